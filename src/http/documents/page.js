// The reference page, after SYNONYMS of synonyms.json: reads /openapi.json of its own server and shows it; each operation can be tried. No dependency, no other host, nothing stored beyond this tab.

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const $ = (id) => document.getElementById(id);
let api;

/** The page's own words in Spanish; the description has its own. */
const SPANISH = {
  'API reference': 'Referencia de la API', 'Skip to the content': 'Ir al contenido', Key: 'Llave', Token: 'Token', Find: 'Buscar', 'refund, cédula, path, code': 'reintegro, cédula, ruta, código', Operations: 'Operaciones',
  Reading: 'Leyendo', ' or ': ' o ', 'list of ': 'lista de ', 'one of ': 'uno de ', 'matches ': 'cumple con ', ' to ': ' a ', 'from ': 'desde ', 'up to ': 'hasta ', ' characters': ' caracteres', ' elements': ' elementos', 'default ': 'por defecto ',
  ' optional': ' opcional', members: 'campos', example: 'ejemplo', Parameters: 'Parámetros', Body: 'Cuerpo', Responses: 'Respuestas', 'Try it': 'Pruébalo', Example: 'Ejemplo', Send: 'Enviar', 'Copy as curl': 'Copiar como curl', Copied: 'Copiado',
  'New Idempotency-Key': 'Otro Idempotency-Key', 'Waiting …': 'Esperando …', ' in ': ' en ', Answer: 'Respuesta', 'No answer': 'Sin respuesta', 'If it was a write, repeat it with the same Idempotency-Key.': 'Si la llamada cambia algo, repítela con el mismo Idempotency-Key.',
  'The document itself: ': 'El documento: ', 'What is sent to the endpoints that list the event. Verify `webhook-signature` over the raw body before anything else.': 'Lo que se envía a las direcciones que piden el evento. Antes que nada, verifica `webhook-signature` sobre el cuerpo tal como llegó.',
  'Search the guides': 'Busca en las guías', 'Nothing found for': 'No se encontró nada con', ' entry found': ' resultado', ' entries found': ' resultados', 'The document could not be read: ': 'No se pudo leer el documento: ', 'the server answered': 'el servidor respondió',
};
const remembered = { get: () => { try { return sessionStorage.getItem('language'); } catch { return null; } }, set: (language) => { try { sessionStorage.setItem('language', language); } catch { /* storage is off: the address has it */ } } };
/** The language that the address asks for, or an earlier page of this tab; then that of the guides before the page, which the server chose. */
const language = [new URLSearchParams(location.search).get('lang'), remembered.get(), (document.querySelector('.guides') || {}).lang, navigator.language.slice(0, 2)].find((one) => one === 'es' || one === 'en') || 'en';
/** The address of the description in that language. */
const DESCRIPTION = language === 'es' ? '/openapi.json?lang=es' : '/openapi.json';
const say = (text) => (language === 'es' && SPANISH[text]) || text;

/** Says the words of the page's frame, and leads to the other language. */
function frame() {
  remembered.set(language);
  document.documentElement.lang = language;
  document.title = say('API reference');
  for (const element of document.querySelectorAll('[data-say]')) element.textContent = say(element.textContent);
  $('find').placeholder = say($('find').placeholder);
  $('contents').setAttribute('aria-label', say('Operations'));
  const other = language === 'es' ? 'en' : 'es';
  const here = new URL(location.href);
  here.searchParams.set('lang', other);
  $('language').replaceChildren(h('a', { href: here.pathname + here.search, lang: other, hreflang: other, onclick: (event) => { event.currentTarget.hash = location.hash; } }, other === 'es' ? 'Español' : 'English'));
}

/** An element with attributes and children; text is never read as HTML. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ''));
  return element;
}

/** `code` and **strong**. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
    if (part.startsWith('`')) return h('code', {}, part.slice(1, -1));
    if (part.startsWith('**')) return h('strong', {}, part.slice(2, -2));
    return part;
  });
}

/** Paragraphs and lists. */
function prose(text) {
  return (text || '').split(/\n\n+/).filter(Boolean).map((block) => {
    const lines = block.split('\n');
    if (lines.every((line) => line.startsWith('- '))) return h('ul', {}, lines.map((line) => h('li', {}, inline(line.slice(2)))));
    return h('p', {}, inline(block));
  });
}

const resolve = (node) => (node && node.$ref ? node.$ref.slice(2).split('/').reduce((at, name) => at[name.replace(/~1/g, '/').replace(/~0/g, '~')], api) : node);
const nameOf = (schema) => (schema.$ref ? schema.$ref.split('/').pop() : undefined);
const isNull = (schema) => schema.type === 'null';

/** What a value may be, in a few words. */
function kind(schema) {
  if (schema.$ref) return nameOf(schema);
  if (schema.anyOf) return schema.anyOf.map(kind).join(say(' or '));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [].concat(schema.type || 'any');
  return types.map((type) => (type === 'array' ? `${say('list of ')}${kind(schema.items || {})}` : schema.format && type === 'string' ? schema.format : type)).join(say(' or '));
}

function limits(schema) {
  const said = [];
  if (schema.enum) said.push([say('one of '), schema.enum.filter((value) => value !== null).map((value, n) => [n ? ', ' : '', h('code', {}, String(value))])]);
  if (schema.pattern) said.push([say('matches '), h('code', {}, schema.pattern)]);
  const range = (least, most, unit) => {
    if (least !== undefined && most !== undefined) said.push(`${least}${say(' to ')}${most}${unit}`);
    else if (least !== undefined) said.push(`${say('from ')}${least}${unit}`);
    else if (most !== undefined) said.push(`${say('up to ')}${most}${unit}`);
  };
  range(schema.minimum, schema.maximum, '');
  range(schema.minLength, schema.maxLength, say(' characters'));
  range(schema.minItems, schema.maxItems, say(' elements'));
  if (schema.default !== undefined) said.push([say('default '), h('code', {}, JSON.stringify(schema.default))]);
  return said.map((part, n) => [n ? '; ' : '', part]);
}

/** The members of an object, or of what a list or a choice is made of; those of a schema inside are opened on demand. */
function members(schema, depth = 0) {
  const target = resolve(schema);
  if (target.anyOf) return target.anyOf.filter((one) => !isNull(one)).map((one) => [target.anyOf.filter((one) => !isNull(one)).length > 1 ? h('p', { class: 'choice' }, kind(one)) : '', members(one, depth)]);
  if (target.items) return members(target.items, depth);
  if (!target.properties) return [];
  const required = new Set(target.required || []);
  const rows = Object.entries(target.properties).map(([name, member]) => {
    const told = { ...resolve(member), ...member };
    const inner = depth < 6 ? members(member, depth + 1) : [];
    return h('div', { class: 'member' },
      h('dt', {}, h('code', {}, name), ' ', h('span', { class: 'kind' }, kind(member)), required.has(name) ? '' : h('span', { class: 'optional' }, say(' optional'))),
      h('dd', {}, told.description ? h('span', {}, inline(told.description)) : '', ' ', h('span', { class: 'limits' }, limits(told)),
        inner.flat(Infinity).length ? h('details', {}, h('summary', {}, say('members')), inner) : ''));
  });
  return [h('dl', { class: 'members' }, rows)];
}

/** An example of a schema: its own, or one made of those of its members. */
function sample(schema, depth = 0) {
  const target = resolve(schema) || {};
  if (target.examples) return target.examples[0];
  if (target.const !== undefined) return target.const;
  if (target.default !== undefined) return target.default;
  if (target.enum) return target.enum[0];
  if (target.anyOf) return sample(target.anyOf[0], depth);
  const type = [].concat(target.type || [])[0];
  if (type === 'object') return Object.fromEntries(Object.entries(target.properties || {}).map(([name, member]) => [name, depth < 5 ? sample(member, depth + 1) : null]));
  if (type === 'array') return depth < 5 ? [sample(target.items || {}, depth + 1)] : [];
  if (type === 'integer' || type === 'number') return target.minimum || 0;
  if (type === 'boolean') return true;
  if (target.format === 'date') return new Date().toISOString().slice(0, 10);
  if (target.format === 'uuid') return '01975a2e-7c00-7000-8000-000000000000';
  return type === 'string' ? 'text' : null;
}

const pretty = (value) => JSON.stringify(value, null, 2);

/** The text of a JSON answer, indented; numbers stay as they were written. */
function indented(text) {
  let depth = 0;
  return text.replace(/"(?:[^"\\]|\\.)*"|[{}[\],:]/g, (token) => {
    if (token === '{' || token === '[') return `${token}\n${'  '.repeat(++depth)}`;
    if (token === '}' || token === ']') return `\n${'  '.repeat(--depth)}${token}`;
    if (token === ',') return `,\n${'  '.repeat(depth)}`;
    return token === ':' ? ': ' : token;
  }).replace(/([{[])\s+([}\]])/g, '$1$2');
}

/** The header that proves who calls, if the operation wants one. */
function credential(operation) {
  const wanted = Object.keys((operation.security || [])[0] || {})[0];
  if (!wanted) return undefined;
  const scheme = api.components.securitySchemes[wanted];
  return scheme.type === 'apiKey' ? { name: scheme.name, prefix: '' } : { name: 'authorization', prefix: 'Bearer ' };
}

const quoted = (text) => `'${text.replace(/'/g, `'\\''`)}'`;

/** Ids that came with answers, by the names that paths and bodies have for them; a page of one thing fills in the next. */
const known = {};

/** Notes the ids of an answer. */
function note(answer) {
  if (!answer || typeof answer !== 'object') return;
  for (const [name, value] of Object.entries(Array.isArray(answer) ? {} : answer)) {
    if (/(^id|Id|Ref)$/.test(name) && typeof value === 'string') known[name] = value;
  }
  if (answer.object && answer.id) known[`${answer.object}.id`] = answer.id;
  const first = Array.isArray(answer.items) ? answer.items[0] : Array.isArray(answer.payoutMethods) ? answer.payoutMethods[0] : undefined;
  if (first) note(first);
  if (answer.payoutMethodId) known.methodId = answer.payoutMethodId;
}

/** What an id in a path is called in answers. */
function idOf(path, name) {
  if (name !== 'id') return known[name];
  const [, kind] = path.match(/\/(merchants|payouts|payments|events|webhooks|products|chargebacks|conversions|payment-links|sessions)\/\{id\}/) || [];
  const names = { merchants: ['merchantId'], payouts: ['payoutId'], payments: ['paymentId', 'intentId'], events: ['event.id'], webhooks: ['webhook.id'], products: ['product.id'], chargebacks: ['chargebackId'], conversions: ['conversion.id'], 'payment-links': ['payment_link.id'], sessions: ['checkout.session.id'] };
  const own = path.includes('/cop/payments/') ? ['cop_payment.id'] : path.includes('/crypto/payouts/') ? ['crypto_payout.id'] : path.includes('/operations/') ? ['operationId'] : names[kind] || [];
  return own.map((one) => known[one]).find(Boolean);
}

/** A parameter's value in test mode: an id that was seen, or the example of the description. */
function prefilled(path, parameter) {
  if (parameter.in === 'path') return idOf(path, parameter.name) || (parameter.schema.examples || [])[0];
  return parameter.required ? (parameter.example !== undefined ? parameter.example : sample(parameter.schema)) : undefined;
}

/** A body with ids that were seen in the place of made up ones. */
function withKnown(value) {
  if (Array.isArray(value)) return value.map(withKnown);
  if (!value || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, /Id$/.test(name) && known[name === 'quoteId' ? 'conversion_quote.id' : name] && /^[0-9a-f-]{36}$/.test(inner) ? known[name === 'quoteId' ? 'conversion_quote.id' : name] : withKnown(inner)]));
}

/** The form that sends one operation. */
function attempt(path, method, operation, parameters) {
  const fields = parameters.map((parameter) => {
    const isKey = parameter.name === 'Idempotency-Key';
    const input = h('input', { name: parameter.name, 'data-in': parameter.in, required: parameter.in === 'path', autocomplete: 'off', spellcheck: 'false', value: isKey ? freshKey() : prefilled(path, parameter) });
    return h('label', {}, h('span', {}, parameter.name, h('small', {}, ` ${parameter.in}`)), ' ', input);
  });
  const content = operation.requestBody && operation.requestBody.content['application/json'];
  const examples = content ? Object.values(content.examples || {}) : [];
  const body = content && h('textarea', { rows: 8, spellcheck: 'false', 'aria-label': say('Body') });
  if (body) body.value = examples.length ? pretty(withKnown(examples[0].value)) : operation.requestBody.required ? pretty(sample(content.schema)) : '';
  if (body) body.rows = Math.min(24, body.value.split('\n').length + 1);
  const choice = examples.length > 1 && h('label', {}, h('span', {}, say('Example')), ' ',
    h('select', { onchange: (event) => { body.value = pretty(withKnown(examples[event.target.value].value)); } }, examples.map((example, n) => h('option', { value: n }, example.summary))));
  const answer = h('div', { class: 'answer', role: 'status', 'aria-live': 'polite' });

  const request = () => {
    let target = path;
    const query = new URLSearchParams();
    const headers = {};
    for (const input of fields.map((field) => field.querySelector('input'))) {
      if (!input.value) continue;
      if (input.dataset.in === 'path') target = target.replace(`{${input.name}}`, encodeURIComponent(input.value));
      else if (input.dataset.in === 'query') query.append(input.name, input.value);
      else headers[input.name] = input.value;
    }
    const proof = credential(operation);
    if (proof && $('key').value) headers[proof.name] = proof.prefix + $('key').value;
    if (body && body.value.trim()) headers['content-type'] = 'application/json';
    const sent = query.toString();
    return { url: sent ? `${target}?${sent}` : target, headers, body: body && body.value.trim() ? body.value : undefined };
  };

  const send = async (event) => {
    event.preventDefault();
    const { url, headers, body: text } = request();
    answer.replaceChildren(h('p', {}, say('Waiting …')));
    const started = performance.now();
    try {
      const reply = await fetch(url, { method: method.toUpperCase(), headers, body: text });
      const read = await reply.text();
      const took = Math.round(performance.now() - started);
      const shown = ['x-request-id', 'wal-seq', 'server-timing', 'idempotent-replayed', 'retry-after'].filter((name) => reply.headers.get(name)).map((name) => `${name}: ${reply.headers.get(name)}`);
      const isJson = (reply.headers.get('content-type') || '').includes('json');
      if (isJson && reply.ok) try { note(JSON.parse(read)); } catch { /* shown as it is */ }
      answer.replaceChildren(
        h('p', {}, h('strong', { class: reply.ok ? 'good' : 'bad' }, `${reply.status} ${reply.statusText}`), `${say(' in ')}${took} ms`),
        h('p', { class: 'limits' }, shown.join(' · ')),
        h('pre', { tabindex: '0', 'aria-label': say('Answer') }, isJson ? indented(read) : read));
    } catch (failure) {
      answer.replaceChildren(h('p', {}, h('strong', { class: 'bad' }, say('No answer')), ` ${failure.message}. ${say('If it was a write, repeat it with the same Idempotency-Key.')}`));
    }
  };

  const copy = async (event) => {
    const { url, headers, body: text } = request();
    const parts = [`curl -s -X ${method.toUpperCase()} ${quoted(location.origin + url)}`];
    for (const [name, value] of Object.entries(headers)) parts.push(`-H ${quoted(`${name}: ${value}`)}`);
    if (text) parts.push(`-d ${quoted(text)}`);
    const button = event.currentTarget;
    try { await navigator.clipboard.writeText(parts.join(' \\\n  ')); button.textContent = say('Copied'); } catch { answer.replaceChildren(h('pre', { tabindex: '0' }, parts.join(' \\\n  '))); }
    setTimeout(() => { button.textContent = say('Copy as curl'); }, 1500);
  };

  const renew = fields.some((field) => field.querySelector('input').name === 'Idempotency-Key') && h('button', {
    type: 'button',
    onclick: () => fields.map((field) => field.querySelector('input')).filter((input) => input.name === 'Idempotency-Key').forEach((input) => { input.value = freshKey(); }),
  }, say('New Idempotency-Key'));
  return h('form', { class: 'attempt', onsubmit: send }, h('h3', {}, say('Try it')), fields, choice || '', body || '',
    h('p', { class: 'buttons' }, h('button', { type: 'submit', class: 'send' }, say('Send')), h('button', { type: 'button', onclick: copy }, say('Copy as curl')), renew || ''), answer);
}

function freshKey() {
  return `docs-${Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function answers(operation) {
  return Object.entries(operation.responses).map(([status, response]) => {
    const told = resolve(response);
    const content = Object.values(told.content || {})[0];
    const inner = content && !/^[45]/.test(status) ? members(content.schema) : [];
    const shown = content && status.startsWith('2') ? sample(content.schema) : undefined;
    return h('details', { class: 'response', open: status.startsWith('2') && status !== '202' && operation.responses['201'] === undefined ? true : undefined },
      h('summary', {}, h('strong', { class: /^2/.test(status) ? 'good' : 'bad' }, status), ' ', h('span', {}, inline(/^[45]/.test(status) ? told.description.split('\n').map((line) => (line.match(/`[^`]+`/) || [line])[0]).join(' ') : told.description))),
      /^[45]/.test(status) ? h('div', {}, prose(told.description)) : '',
      inner.flat(Infinity).length ? inner : content && !/^[45]/.test(status) ? h('p', {}, kind(content.schema)) : '',
      shown !== undefined && shown !== null && shown !== '' ? h('details', {}, h('summary', {}, say('example')), h('pre', { tabindex: '0' }, pretty(shown))) : '');
  });
}

/** One operation; what is in it is made when it is opened. */
function shown(path, method, item, operation) {
  const article = h('details', { class: 'operation', id: operation.operationId },
    h('summary', {}, h('span', { class: `method ${method}` }, method.toUpperCase()), ' ', h('code', { class: 'path' }, path.split(/(?=\/)/).map((part) => [h('wbr'), part])), ' ', h('span', { class: 'what' }, operation.summary)));
  article.addEventListener('toggle', () => {
    if (!article.open || article.dataset.made) return;
    article.dataset.made = 'yes';
    const parameters = [...(operation.parameters || []), ...(item.parameters || [])].map(resolve);
    const content = operation.requestBody && operation.requestBody.content['application/json'];
    const told = parameters.filter((parameter) => parameter.name !== 'X-Request-Id');
    article.append(h('div', { class: 'inside' },
      h('div', { class: 'told' }, h('div', {}, prose(operation.description)),
        told.length ? [h('h3', {}, say('Parameters')), h('dl', { class: 'members' }, told.map((parameter) => h('div', { class: 'member' },
          h('dt', {}, h('code', {}, parameter.name), ' ', h('span', { class: 'kind' }, `${parameter.in}, ${kind(parameter.schema)}`), parameter.required ? '' : h('span', { class: 'optional' }, say(' optional'))),
          h('dd', {}, h('span', {}, inline(parameter.description || parameter.schema.description || '')), ' ', h('span', { class: 'limits' }, limits(parameter.schema.items || parameter.schema))))))] : '',
        content ? [h('h3', {}, say('Body')), members(content.schema)] : '',
        h('h3', {}, say('Responses')), answers(operation)),
      attempt(path, method, operation, told)));
  });
  return article;
}

function operations() {
  const all = [];
  for (const [path, item] of Object.entries(api.paths)) for (const method of METHODS) if (item[method]) all.push({ path, method, item, operation: item[method] });
  return all;
}

/** Text in lower case, without accents. */
const plain = (text) => text.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f]/g, '');

/** Names and descriptions of the members of a schema, however deep. */
function named(schema, depth = 0) {
  const target = resolve(schema) || {};
  if (depth > 4) return '';
  const inner = [...(target.anyOf || []), ...(target.items ? [target.items] : [])].map((one) => named(one, depth + 1));
  const members = Object.entries(target.properties || {}).map(([name, member]) => `${name} ${(resolve(member) || {}).description || ''} ${named(member, depth + 1)}`);
  return [...inner, ...members].join(' ');
}

/** Everything that can be found by typing: path, name, summary, parameters, members of the body, codes. */
function words({ path, method, item, operation }) {
  const content = operation.requestBody && operation.requestBody.content['application/json'];
  const parameters = [...(operation.parameters || []), ...(item.parameters || [])].map(resolve).map((one) => `${one.name} ${one.description || one.schema.description || ''}`);
  return plain([method, path, operation.operationId, operation.summary, operation.description, ...operation.tags, ...parameters, content ? named(content.schema) : '', ...Object.values(operation.responses).map((response) => resolve(response).description)].join(' '));
}

/** A word without the ending of a plural. */
const stem = (word) => { const cut = word.replace(/e?s$/, ''); return cut.length < 4 ? word : cut; };

/** Whether one letter makes the difference, or two that changed places. */
function near(one, other) {
  let at = 0;
  while (at < Math.min(one.length, other.length) && one[at] === other[at]) at += 1;
  let [a, b] = [one.slice(at), other.slice(at)];
  while (a && b && a.at(-1) === b.at(-1)) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  return (a.length < 2 && b.length < 2) || (a.length === 2 && b.length === 2 && a[0] === b[1] && a[1] === b[0]);
}

/** What was typed, as terms: of each the texts of which one is to be found. A word with a wrong letter is the one that was meant. */
function terms(vocabulary) {
  const tabled = SYNONYMS.same.flatMap(({ words }) => words).flatMap((name) => name.split(' '));
  const small = new Set(SYNONYMS.small);
  const mean = (word) => {
    if (word.length < 5 || small.has(word) || [...tabled, ...vocabulary].some((known) => known.startsWith(stem(word)))) return word;
    return [...tabled, ...vocabulary].find((known) => known.length > 3 && (near(word, known) || near(stem(word), stem(known)))) || word;
  };
  const typed = plain($('find').value).split(/[\s¿?¡!,]+/).filter(Boolean).map(mean);
  const is = (word, known) => word === `${known}s` || stem(word) === stem(known) || (word.length > 3 && known.startsWith(stem(word)));
  const made = [];
  for (let at = 0; at < typed.length;) {
    let [length, others] = [0, []];
    for (const { words: names, api: called } of SYNONYMS.same) for (const name of names) {
      const parts = name.split(' ');
      if (parts.length > length && parts.every((part, n) => at + n < typed.length && is(typed[at + n], part)) && (parts.length > 1 || !small.has(typed[at]))) [length, others] = [parts.length, called];
    }
    if (length || !small.has(typed[at])) made.push(length > 1 ? others : [stem(typed[at]), ...others]);
    at += length || 1;
  }
  return made;
}

/** Whether a text has one of each. */
const fits = (text, wanted) => wanted.every((others) => others.some((other) => text.includes(other)));

function show() {
  document.title = `${api.info.title} · ${say('API reference')}`;
  $('title').replaceChildren(api.info.title, ' ', h('small', {}, api.info.version));
  const scheme = Object.values(api.components.securitySchemes)[0];
  $('credential-name').textContent = scheme ? (scheme.type === 'apiKey' ? scheme.name : say('Token')) : '';
  $('credential').hidden = !scheme;
  const all = operations();
  const sections = [];
  const contents = [];
  for (const tag of api.tags) {
    const mine = all.filter(({ operation }) => operation.tags[0] === tag.name);
    if (!mine.length) continue;
    const id = `tag-${plain(tag.name).replace(/[^a-z0-9]+/g, '-')}`;
    const made = mine.map((one) => ({ words: words(one), element: shown(one.path, one.method, one.item, one.operation), one }));
    const links = made.map(({ one }) => h('li', {}, h('a', { href: `#${one.operation.operationId}` }, one.operation.summary)));
    const section = h('section', { id, 'aria-labelledby': `${id}-heading` }, h('h2', { id: `${id}-heading` }, tag.name), h('div', {}, prose(tag.description)), made.map(({ element }) => element));
    const group = h('div', { class: 'group' }, h('a', { class: 'tag', href: `#${id}` }, tag.name), h('ul', {}, links));
    sections.push({ section, group, made, links });
    contents.push(group);
  }
  const webhooks = Object.entries(api.webhooks || {}).map(([name, item]) => h('details', { class: 'operation', id: `event-${name}` },
    h('summary', {}, h('code', { class: 'path' }, name), ' ', h('span', { class: 'what' }, item.post.summary)),
    h('div', { class: 'inside' }, h('div', { class: 'told' }, members(item.post.requestBody.content['application/json'].schema)))));
  if (webhooks.length) contents.push(h('div', { class: 'group' }, h('a', { class: 'tag', href: '#webhooks' }, 'Webhooks')));
  $('contents').replaceChildren(...contents);
  $('content').replaceChildren(h('section', { class: 'intro' }, h('div', {}, prose(api.info.description)), h('p', {}, say('The document itself: '), h('a', { href: DESCRIPTION }, DESCRIPTION))),
    ...sections.map(({ section }) => section),
    webhooks.length ? h('section', { id: 'webhooks' }, h('h2', {}, 'Webhooks'), prose(say('What is sent to the endpoints that list the event. Verify `webhook-signature` over the raw body before anything else.')), webhooks) : '');

  const events = Object.keys(api.webhooks || {}).map((name, n) => ({ text: plain(`${name} webhook event ${api.webhooks[name].post.summary} ${named(api.webhooks[name].post.requestBody.content['application/json'].schema)}`), element: webhooks[n] }));
  const vocabulary = new Set([...sections.flatMap(({ made }) => made), ...events].flatMap(({ words: said, text }) => (said || text).match(/[a-z0-9]+/g)));
  $('find').addEventListener('input', () => {
    const wanted = terms(vocabulary);
    let count = 0;
    for (const { section, group, made, links } of sections) {
      let any = false;
      made.forEach(({ words: text, element }, n) => {
        const is = fits(text, wanted);
        element.hidden = links[n].hidden = !is;
        any = any || is;
        count += is ? 1 : 0;
      });
      section.hidden = group.hidden = !any;
    }
    for (const { text, element } of events) {
      element.hidden = !fits(text, wanted);
      count += element.hidden ? 0 : 1;
    }
    if ($('webhooks')) $('webhooks').hidden = events.every(({ element }) => element.hidden);
    found(wanted, count);
  });
  $('find').value = new URLSearchParams(location.search).get('q') || '';
  if ($('find').value) $('find').dispatchEvent(new Event('input'));
  open();
}

/** Says what was found, and where else to look when it is nothing. */
function found(wanted, count) {
  const state = $('found');
  state.hidden = !wanted.length;
  state.dataset.found = count;
  const guides = document.querySelector('.guides');
  const elsewhere = guides && h('a', { href: `/docs/${guides.lang}/search?q=${encodeURIComponent($('find').value)}` }, say('Search the guides'));
  for (const aside of document.querySelectorAll('.intro, .guides')) aside.hidden = wanted.length > 0;
  if (count) state.replaceChildren(`${count}${say(count === 1 ? ' entry found' : ' entries found')}`);
  else state.replaceChildren(`${say('Nothing found for')} “${$('find').value.trim()}”. `, elsewhere || '');
}

/** Opens what the address names. */
function open() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.tagName === 'DETAILS') target.open = true;
  target.scrollIntoView();
  (target.querySelector('summary') || target).focus({ preventScroll: true });
}

async function start() {
  frame();
  $('key').value = $('key').dataset.testKey || '';
  try { $('key').value = sessionStorage.getItem('key') || $('key').value; } catch { /* storage is off: the key lives in the field alone */ }
  $('key').addEventListener('input', () => { try { sessionStorage.setItem('key', $('key').value); } catch { /* as above */ } });
  $('settings').addEventListener('submit', (event) => event.preventDefault());
  window.addEventListener('hashchange', open);
  try {
    const reply = await fetch(DESCRIPTION);
    if (!reply.ok) throw new Error(`${say('the server answered')} ${reply.status}`);
    api = await reply.json();
  } catch (failure) {
    $('state').textContent = `${say('The document could not be read: ')}${failure.message}`;
    return;
  }
  show();
}

start();
