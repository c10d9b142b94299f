// Makes a checkout page quicker and watches over it. Everything here also works without it: forms are sent in the background, and the server's page takes the place of the old one.
(() => {
  "use strict";
  const POLL_MS = { processing: 1500, open: 4000, failed: 4000 };
  const live = document.getElementById("live");
  let timer = 0;
  let sending = false;
  let kept = {};

  const main = () => document.getElementById("main");
  const say = (text) => { live.textContent = ""; requestAnimationFrame(() => { live.textContent = text; }); };
  const bare = (text) => text.replace(/[\s\-.()\u00a0]/g, "");
  const rules = {
    debtorBankCode: (text) => /^\d{1,4}$/.test(text),
    debtorId: (text) => /^[VEJPG]\d{5,9}$/i.test(bare(text)),
    debtorCellPhone: (text) => /^(\+?58|0)4(12|14|16|22|24|26)\d{7}$/.test(bare(text)),
    token: (text) => /^\d{6,8}$/.test(bare(text)),
    quantity: (text, input) => /^\d{1,3}$/.test(text) && +text >= 1 && (!input.max || +text <= +input.max),
    email: (text) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text),
    phone: (text) => /^(\+57)?3\d{9}$/.test(bare(text)),
    documentType: (text) => text !== "",
    documentNumber: (text) => /^[A-Za-z0-9-]{3,20}$/.test(text.replace(/[\s.\u00a0]/g, "")),
    otp: (text) => /^\d{4,8}$/.test(bare(text)),
  };

  function judge(input) {
    const rule = rules[input.name];
    if (!rule || input.type === "hidden") return true;
    const fine = rule(input.value.trim(), input);
    const error = document.getElementById(input.id + "-error");
    if (fine) input.removeAttribute("aria-invalid"); else input.setAttribute("aria-invalid", "true");
    if (error) error.textContent = fine ? "" : input.dataset.error || "";
    return fine;
  }

  function judgeAll(form) {
    const wrong = [...form.elements].filter((input) => input.name && !judge(input));
    if (wrong.length === 0) return true;
    wrong[0].focus();
    say(main().dataset.check || wrong[0].dataset.error || "");
    return false;
  }

  function tell(type) {
    const { parent: origin, session } = main().dataset;
    // To the page that embeds this one, by name; never to anybody, and never the secret.
    if (!origin || window.parent === window) return;
    const message = { source: "pasarela", type, sessionId: session };
    if (type === "resize") message.height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    window.parent.postMessage(message, origin);
  }

  function show(html, address) {
    const next = new DOMParser().parseFromString(html, "text/html");
    const incoming = next.getElementById("main");
    if (!incoming) return false;
    main().replaceWith(document.adoptNode(incoming));
    document.title = next.title;
    const [language, newer] = [document.querySelector(".language"), next.querySelector(".language")];
    if (language && newer) language.href = newer.getAttribute("href");
    if (address) history.replaceState(null, "", address);
    for (const [name, value] of Object.entries(kept)) {
      const input = main().querySelector(`[name="${name}"]:not([type=hidden])`);
      if (input && !input.value && name !== "token") input.value = value;
    }
    begin();
    const focus = main().querySelector("[data-focus]") || main();
    focus.focus({ preventScroll: true });
    window.scrollTo({ top: 0 });
    const heading = main().querySelector(".state h1, .banner h2, .panel h2");
    if (heading) say(heading.textContent);
    const { status } = main().dataset;
    if (status === "paid" || status === "failed" || status === "expired") tell(status);
    return true;
  }

  async function load(address, options) {
    const answer = await fetch(address, { credentials: "same-origin", ...options });
    return show(await answer.text(), answer.redirected || !options ? answer.url : "");
  }

  function wait(form) {
    if (form.dataset.form !== "key") return;
    const page = main();
    page.dataset.status = "processing";
    say(page.dataset.processing);
    const note = document.createElement("div");
    note.className = "state overlay";
    const [spinner, title, hint, progress] = ["div", "h2", "p", "progress"].map((name) => document.createElement(name));
    spinner.className = "spinner";
    title.textContent = page.dataset.processing;
    hint.textContent = page.dataset.processingHint;
    progress.setAttribute("aria-label", page.dataset.processing);
    note.append(spinner, title, hint, progress);
    form.hidden = true;
    form.after(note);
  }

  async function send(form, button) {
    sending = true;
    clearTimeout(timer);
    const before = { status: main().dataset.status, text: button ? button.textContent : "" };
    const data = new FormData(form);
    if (button && button.name) data.set(button.name, button.value);
    for (const name of ["debtorBankCode", "debtorId", "debtorCellPhone", "email", "phone", "documentType", "documentNumber"]) if (data.has(name)) kept[name] = data.get(name);
    if (button) { button.disabled = true; if (button.dataset.busy && !button.firstElementChild) button.textContent = button.dataset.busy; }
    wait(form);
    try {
      await load(form.action, { method: "POST", body: new URLSearchParams(data) });
    } catch (_) {
      // Nobody knows whether it arrived. The state does, once it can be asked.
      form.hidden = false;
      main().querySelectorAll(".overlay").forEach((note) => note.remove());
      main().dataset.status = before.status;
      if (button) { button.disabled = false; if (!button.firstElementChild) button.textContent = before.text; }
      say(main().dataset.offline);
    } finally {
      sending = false;
      watch();
    }
  }

  async function look() {
    const { base, secret, status, attempt, received } = main().dataset;
    if (!base || sending) return;
    try {
      const query = attempt ? "?attempt=" + attempt : "";
      const answer = await fetch(base + "/state" + query, { headers: { Authorization: "Bearer " + secret }, credentials: "omit" });
      if (!answer.ok) return;
      const now = await answer.json();
      const changed = now.status !== status && !(now.status === "open" && status === "failed");
      const ended = attempt && now.attemptStatus !== "PENDING";
      // What has come is told; what was typed meanwhile is not lost for it.
      const came = now.receivedUsdt !== received && !main().querySelector("form :focus");
      if ((changed || ended || came) && !sending) await load(location.href);
    } catch (_) {
      say(main().dataset.offline);
    }
  }

  function watch() {
    clearTimeout(timer);
    const every = POLL_MS[main().dataset.status];
    if (!every || !main().dataset.base) return;
    timer = setTimeout(async () => { if (!document.hidden) await look(); watch(); }, every);
  }

  function help() {
    const select = main().querySelector("#debtorBankCode");
    const text = main().querySelector("[data-bank-help]");
    if (!select || !text) return;
    const chosen = select.selectedOptions[0];
    text.textContent = (chosen && chosen.dataset.help) || "";
  }

  // Where the buyer says how many, pesos can be chosen from some number on.
  function least() {
    const quantity = main().querySelector("#quantity");
    const button = main().querySelector("[data-least]");
    if (!quantity || !button) return;
    const hint = button.querySelector(".choice-hint");
    hint.dataset.why = hint.dataset.why || (button.disabled ? hint.textContent : "");
    const enough = +quantity.value >= +button.dataset.least;
    button.disabled = !enough;
    hint.textContent = enough ? button.dataset.hint : hint.dataset.why || hint.textContent;
  }

  function begin() {
    main().querySelectorAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
    least();
    document.querySelectorAll("form[method=post]").forEach((form) => { form.noValidate = true; });
    help();
    watch();
    tell("resize");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (sending || !judgeAll(form)) { event.preventDefault(); return; }
    // A link's form leads to another page: the browser goes there by itself.
    if (form.dataset.form === "link") return;
    event.preventDefault();
    send(form, event.submitter || form.querySelector("button[type=submit]"));
  });
  document.addEventListener("change", (event) => { if (event.target.id === "debtorBankCode") { help(); if (event.target.value) judge(event.target); } });
  document.addEventListener("input", (event) => { if (event.target.id === "quantity") least(); if (event.target.getAttribute("aria-invalid") === "true") judge(event.target); });
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const before = button.textContent;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
    say(button.dataset.copied);
    setTimeout(() => { button.textContent = before; }, 2000);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { look(); watch(); } });
  new ResizeObserver(() => tell("resize")).observe(document.documentElement);
  begin();
  const opened = main().dataset.status;
  if (opened === "paid" || opened === "expired") tell(opened);
  const focus = main().querySelector("[data-focus]");
  if (focus) focus.focus({ preventScroll: true });
})();
