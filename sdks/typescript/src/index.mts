/** The package for `import`: the same objects as for `require`, so that a program which uses both has each class once. */

export * from './index.js';
