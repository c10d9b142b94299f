// Makes a checkout page quicker and watches over it. Everything here also works without it: forms are sent in the background, and the server's page takes the place of the old one.
(() => {
  "use strict";
  const POLL_MS = { processing: 1500, open: 4000, failed: 4000 };
  const live = document.getElementById("live");
  const net = document.getElementById("net");
  let timer = 0;
  let counter = 0;
  let sending = false;
  // The form that was sent when the connection broke: nobody knows whether it arrived.
  let lost = null;
  let kept = {};

  const main = () => document.getElementById("main");
  const say = (text) => { live.textContent = ""; requestAnimationFrame(() => { live.textContent = text; }); };
  const bare = (text) => text.replace(/[\s\-.()\u00a0]/g, "");
  // Buttons named `method` and `action` hide the form's own properties.
  const of = (form, name) => form.getAttribute(name) || "";
  const isPost = (form) => of(form, "method").toLowerCase() === "post";
  const identity = (text) => /^[VEJPG]\d{5,9}$/i.test(bare(text));
  const expiry = (text) => { const found = /^(\d{1,2})[/-]?(\d{2}|\d{4})$/.exec(text.replace(/\s/g, "")); return found && { month: +found[1], year: +found[2] < 100 ? 2000 + +found[2] : +found[2] }; };
  const luhn = (digits) => [...digits].reverse().reduce((sum, digit, at) => { const value = at % 2 ? digit * 2 : +digit; return sum + (value > 9 ? value - 9 : value); }, 0) % 10 === 0;
  const rules = {
    debtorBankCode: (text) => /^\d{1,4}$/.test(text),
    debtorId: identity,
    debtorCellPhone: (text) => /^(\+?58|0)4(12|14|16|22|24|26)\d{7}$/.test(bare(text)),
    token: (text) => /^\d{6,8}$/.test(bare(text)),
    quantity: (text, input) => /^\d{1,3}$/.test(text) && +text >= 1 && (!input.max || +text <= +input.max),
    email: (text) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text),
    phone: (text) => /^(\+57)?3\d{9}$/.test(bare(text)),
    documentType: (text) => text !== "",
    documentNumber: (text) => /^[A-Za-z0-9-]{3,20}$/.test(text.replace(/[\s.\u00a0]/g, "")),
    otp: (text) => /^\d{4,8}$/.test(bare(text)),
    reference: (text) => /^\d{4,20}$/.test(bare(text)),
    date: (text, input) => text !== "" && (!input.min || text >= input.min) && (!input.max || text <= input.max),
    cardNumber: (text) => /^\d{13,19}$/.test(bare(text)) && luhn(bare(text)),
    cardExpiry: (text) => { const found = expiry(text); return !!found && found.month >= 1 && found.month <= 12 && found.year * 12 + found.month > new Date().getFullYear() * 12 + new Date().getMonth(); },
    cardCvv: (text) => /^\d{3,4}$/.test(bare(text)),
    cardName: (text) => text !== "",
    holderId: identity,
  };

  function mark(input, fine) {
    const error = document.getElementById(input.id + "-error");
    if (fine) input.removeAttribute("aria-invalid"); else input.setAttribute("aria-invalid", "true");
    if (error) error.textContent = fine ? "" : input.dataset.error || "";
    return fine;
  }

  function judge(input) {
    const rule = rules[input.name];
    return !rule || input.type === "hidden" || mark(input, rule(input.value.trim(), input));
  }

  function judgeAll(form) {
    const wrong = [...form.elements].filter((input) => input.name && !judge(input));
    if (wrong.length === 0) return true;
    wrong[0].focus();
    say(main().dataset.check || wrong[0].dataset.error || "");
    return false;
  }

  function tell(type, more) {
    const { parent: origin, session } = main().dataset;
    // To the page that embeds this one, by name; never to anybody, and never the secret.
    if (!origin || window.parent === window) return;
    const message = { source: "pasarela", type, sessionId: session, ...more };
    if (type === "resize") message.height = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (type === "failed") message.cause = main().dataset.cause || "rejected";
    window.parent.postMessage(message, origin);
  }

  // What is known of the connection, where everybody sees it.
  function note(text) {
    net.hidden = !text;
    if (net.textContent !== (text || "")) { net.textContent = text || ""; if (text) say(text); }
    tell("resize");
  }

  // The page of the session: where a script may load it, with what is to be another in its query.
  function page(over) {
    const { base } = main().dataset;
    const address = new URL(location.href);
    if (![base, base + "/embed"].includes(address.pathname)) address.pathname = base + (document.body.classList.contains("embedded") ? "/embed" : "");
    for (const [name, value] of Object.entries(over || {})) if (value) address.searchParams.set(name, value); else address.searchParams.delete(name);
    return address.href;
  }

  // Puts a page in the place of this one; false if it is none of the session's: a proxy's, or a refusal.
  function show(html, address) {
    const next = new DOMParser().parseFromString(html, "text/html");
    const incoming = next.getElementById("main");
    if (!incoming || !incoming.dataset.base) return false;
    lost = null;
    note("");
    main().replaceWith(document.adoptNode(incoming));
    document.title = next.title;
    const [language, newer] = [document.querySelector(".language"), next.querySelector(".language")];
    if (language && newer) language.href = newer.getAttribute("href");
    if (address) history.replaceState(null, "", address);
    for (const [name, value] of Object.entries(kept)) {
      const input = main().querySelector(`[name="${name}"]:not([type=hidden])`);
      if (input && (!input.value || name === "date")) input.value = value;
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

  // The secret says that nobody guesses at addresses here: what it opens is not refused to a busy client.
  const secretly = () => ({ Authorization: "Bearer " + main().dataset.secret });

  async function load(address, options) {
    const answer = await fetch(address, { credentials: "same-origin", headers: secretly(), ...options });
    return show(await answer.text(), answer.redirected || !options ? answer.url : "");
  }

  function wait(form) {
    if (!["key", "card", "transfer"].includes(form.dataset.form)) return;
    const page = main();
    page.dataset.status = "processing";
    say(page.dataset.processing);
    const overlay = document.createElement("div");
    overlay.className = "state overlay";
    const [spinner, title, hint, progress] = ["div", "h2", "p", "progress"].map((name) => document.createElement(name));
    spinner.className = "spinner";
    title.textContent = page.dataset.processing;
    hint.textContent = page.dataset.processingHint;
    progress.setAttribute("aria-label", page.dataset.processing);
    overlay.append(spinner, title, hint, progress);
    form.hidden = true;
    form.after(overlay);
  }

  function busy(button, is) {
    if (!button) return;
    if (is) button.dataset.before = button.textContent;
    button.disabled = is;
    if (button.firstElementChild) return;
    if (is && button.dataset.busy) button.textContent = button.dataset.busy;
    if (!is) button.textContent = button.dataset.before;
  }

  // The form again, as it was before it was sent.
  function back({ form, button, status }) {
    form.hidden = false;
    main().querySelectorAll(".overlay").forEach((overlay) => overlay.remove());
    main().dataset.status = status;
    busy(button, false);
  }

  async function send(form, button) {
    sending = true;
    clearTimeout(timer);
    const { status, newest } = main().dataset;
    const sent = { form, button, status, newest, looks: 0 };
    const data = new FormData(form);
    if (button && button.name) data.set(button.name, button.value);
    for (const name of ["debtorBankCode", "debtorId", "debtorCellPhone", "email", "phone", "documentType", "documentNumber", "reference", "date", "cardName", "holderId"]) if (data.has(name)) kept[name] = data.get(name);
    busy(button, true);
    wait(form);
    let shown = false;
    try {
      shown = await load(of(form, "action"), { method: "POST", body: new URLSearchParams(data) });
    } catch (_) {
      // It is as if a proxy had answered.
    } finally {
      // Nobody knows whether it arrived. The state does, once it can be asked.
      if (!shown) { lost = sent; note(main().dataset.unknown); }
      sending = false;
      watch();
    }
  }

  // Takes a card in for the shop's own server, which gets a token of it.
  async function tokenize(form, button) {
    const { base, secret } = main().dataset;
    const value = (name) => form.elements[name].value.trim();
    const { month, year } = expiry(value("cardExpiry"));
    const card = { number: bare(value("cardNumber")), expMonth: month, expYear: year, cvv: bare(value("cardCvv")), holderName: value("cardName"), holderId: bare(value("holderId")) };
    sending = true;
    busy(button, true);
    try {
      const answer = await fetch(base + "/card", { method: "POST", credentials: "omit", headers: { Authorization: "Bearer " + secret, "Content-Type": "application/json" }, body: JSON.stringify({ card, tokenize: true }) });
      // What is no JSON is not the gateway's.
      const made = await answer.json().catch(() => ({}));
      if (answer.status === 201 && made.token) {
        form.reset();
        form.hidden = true;
        note(form.dataset.done);
        const { token, cardBrand, cardLast4, expMonth, expYear } = made;
        tell("card", { token, cardBrand, cardLast4, expMonth, expYear });
        return;
      }
      const names = { number: "cardNumber", expMonth: "cardExpiry", expYear: "cardExpiry", cvv: "cardCvv", holderName: "cardName", holderId: "holderId" };
      const wrong = (made.fields || []).map((bad) => form.elements[names[bad.field.replace("card.", "")]]).filter(Boolean);
      wrong.forEach((input) => mark(input, false));
      if (wrong.length) wrong[0].focus(); else note(answer.status === 429 ? form.dataset.tooOften : form.dataset.trouble);
    } catch (_) {
      note(main().dataset.offline);
    } finally {
      sending = false;
      busy(button, false);
    }
  }

  // What became of a form that was sent when the connection broke.
  async function settle(now) {
    const was = lost;
    const kind = was.form.dataset.form;
    if (now.status !== "open") return load(page({ attempt: main().dataset.attempt || now.newestAttempt }));
    // An attempt that was begun says by itself how it stands.
    const begun = kind === "key" ? now.attemptStatus !== "PENDING" && was.form.elements.intentId.value : (now.newestAttempt || "") !== (was.newest || "") && now.newestAttempt;
    if (begun) return load(page({ attempt: begun, intent: kind === "details" || kind === "again" ? begun : "", channel: "" }));
    // A wrong code leaves the attempt as it was, and an address for USDT is asked for as often as one likes.
    if (kind === "code") return load(page());
    if (kind === "network") return load(page({ method: "usdt", network: was.form.elements.network.value, asset: was.form.elements.asset.value }));
    // What a proxy holds back may come after this answer.
    if (++was.looks < 2) return false;
    lost = null;
    back(was);
    note(main().dataset.notSent);
    return true;
  }

  async function look() {
    const { base, status, attempt, received } = main().dataset;
    if (!base || sending || document.querySelector("[data-form=fields]")) return;
    const asked = attempt || (lost && lost.form.dataset.form === "key" && lost.form.elements.intentId.value);
    try {
      const answer = await fetch(base + "/state" + (asked ? "?attempt=" + asked : ""), { headers: secretly(), credentials: "omit" });
      if (!answer.ok) return;
      const now = await answer.json();
      if (lost) return await settle(now);
      if (now.newestAttempt) main().dataset.newest = now.newestAttempt;
      if (net.textContent === main().dataset.offline) note("");
      const changed = now.status !== status && !(now.status === "open" && status === "failed");
      const ended = attempt && now.attemptStatus !== "PENDING";
      // What has come is told; what was typed meanwhile is not lost for it.
      const came = now.receivedUsdt !== received && !main().querySelector("form :focus");
      if ((changed || ended || came) && !sending) await load(page());
    } catch (_) {
      note(lost ? main().dataset.unknown : main().dataset.offline);
    }
  }

  function watch() {
    clearTimeout(timer);
    const every = lost ? POLL_MS.processing : POLL_MS[main().dataset.status];
    if (!every || !main().dataset.base) return;
    timer = setTimeout(async () => { if (!document.hidden) await look(); watch(); }, every);
  }

  // The bank's help, and the button's words: not every bank is told anything now.
  function help() {
    const select = main().querySelector("#debtorBankCode");
    const text = main().querySelector("[data-bank-help]");
    if (!select || !text) return;
    const chosen = select.selectedOptions[0];
    text.textContent = (chosen && chosen.dataset.help) || "";
    const button = main().querySelector("[data-send]");
    if (button && !button.disabled) button.textContent = chosen && "sends" in chosen.dataset ? button.dataset.send : button.dataset.go;
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

  // Counts down until a code may be sent again.
  function countdown() {
    clearInterval(counter);
    const button = main().querySelector("[data-wait]");
    if (!button) return;
    const [text, until] = [button.textContent, performance.now() + 1000 * +button.dataset.wait];
    const tick = () => {
      const left = Math.ceil((until - performance.now()) / 1000);
      button.disabled = left > 0;
      button.textContent = left > 0 ? `${button.dataset.in} ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : text;
      if (left <= 0) clearInterval(counter);
    };
    tick();
    counter = setInterval(tick, 1000);
  }

  function begin() {
    main().querySelectorAll("[data-until-script]").forEach((said) => { said.remove(); });
    main().querySelectorAll("[data-with-script]").forEach((button) => { button.disabled = false; });
    main().querySelectorAll("[data-copy]").forEach((button) => { button.hidden = !navigator.clipboard; });
    main().querySelectorAll("[data-share]").forEach((button) => { button.hidden = !navigator.share; });
    least();
    document.querySelectorAll("form[method=post]").forEach((form) => { form.noValidate = true; });
    help();
    countdown();
    watch();
    tell("resize");
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const button = event.submitter || form.querySelector("button[type=submit]");
    if (navigator.onLine === false) { event.preventDefault(); note(main().dataset.offline); return; }
    if (!isPost(form)) return;
    if (sending || !judgeAll(form)) { event.preventDefault(); return; }
    // A link's form leads to another page: the browser goes there by itself.
    if (form.dataset.form === "link") return;
    event.preventDefault();
    if (form.dataset.form === "fields") tokenize(form, button); else send(form, button);
  });
  document.addEventListener("change", (event) => { if (event.target.id === "debtorBankCode") { help(); if (event.target.value) judge(event.target); } });
  document.addEventListener("input", (event) => { if (event.target.id === "quantity") least(); if (event.target.getAttribute("aria-invalid") === "true") judge(event.target); });
  document.addEventListener("click", async (event) => {
    const share = event.target.closest("[data-share]");
    if (share) { navigator.share({ title: share.dataset.title, text: share.dataset.share }).catch(() => {}); return; }
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const before = button.textContent;
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
    say(button.dataset.copied);
    setTimeout(() => { button.textContent = before; }, 2000);
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) { look(); watch(); } });
  window.addEventListener("offline", () => { if (!sending && !lost && main().dataset.offline) note(main().dataset.offline); });
  window.addEventListener("online", () => { if (!lost) note(""); look(); watch(); });
  new ResizeObserver(() => tell("resize")).observe(document.documentElement);
  begin();
  tell("ready");
  const opened = main().dataset.status;
  if (opened === "paid" || opened === "expired") tell(opened);
  const focus = main().querySelector("[data-focus]");
  if (focus) focus.focus({ preventScroll: true });
  // On a telephone what was chosen is below the choice.
  const panel = document.getElementById("panel");
  if (panel && !main().querySelector("[role=alert]") && panel.getBoundingClientRect().top > innerHeight / 2) panel.scrollIntoView();
})();
