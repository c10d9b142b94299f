// Pasarela: puts a checkout into a shop's own page.
// Pasarela.mount("#pay", { clientSecret, lang, onPaid, onFailed, onExpired, onError })
// Pasarela.mountCard("#card", { clientSecret, lang, onToken, onError })
(() => {
  "use strict";
  const base = new URL(document.currentScript.src).origin;
  const session = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_secret_/;
  // The time after which a frame that has said nothing will not.
  const PATIENCE_MS = 20000;
  const CAUSES = {
    element_not_found: "nothing on this page matches the selector",
    invalid_client_secret: "clientSecret is not a client secret of a checkout session",
    session_not_found: "there is no such session, or it cannot be paid so",
    origin_not_allowed: "checkout.allowedOrigins of the account does not name this page's origin",
    too_many_requests: "too many sessions were asked for that are not there",
    unreachable: "the frame did not load: the server or the network does not answer",
  };

  function open(target, options, fields, calls) {
    const asked = options || {};
    let over = false;
    const fail = (cause, sessionId) => {
      if (over) return;
      over = true;
      const error = Object.assign(new Error("Pasarela: " + CAUSES[cause]), { cause, sessionId });
      if (typeof asked.onError === "function") asked.onError({ cause, message: error.message, sessionId });
      else console.error(error.message);
    };
    const nothing = { unmount() {} };
    const place = typeof target === "string" ? document.querySelector(target) : target;
    const found = session.exec(String(asked.clientSecret));
    const wrong = !place ? "element_not_found" : !found ? "invalid_client_secret" : null;
    if (wrong) {
      // A mistake of the page itself: nobody who did not ask for it is to miss it.
      if (typeof asked.onError !== "function") throw new Error("Pasarela.mount: " + CAUSES[wrong]);
      fail(wrong);
      return nothing;
    }
    const id = found[1];
    const address = new URL("/checkout/" + id + "/embed", base);
    const check = new URL("/checkout/" + id + "/embed/check", base);
    for (const url of [address, check]) url.searchParams.set("origin", location.origin);
    if (asked.lang) address.searchParams.set("lang", asked.lang);
    if (fields) for (const url of [address, check]) url.searchParams.set("fields", fields);
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = asked.lang === "en" ? "Payment" : "Pago";
    frame.setAttribute("allow", "clipboard-write; web-share");
    frame.style.cssText = "width:100%;min-height:420px;border:0;color-scheme:auto";
    const told = new Set();
    let ready = false;
    const patience = setTimeout(() => { if (!ready) fail("unreachable", id); }, PATIENCE_MS);
    // A browser does not say why it shows no frame.
    fetch(check.href, { credentials: "omit", cache: "no-store" })
      .then((answer) => answer.json())
      .then(({ cause }) => { if (cause && !ready) fail(cause in CAUSES ? cause : "unreachable", id); })
      .catch(() => { if (!ready) fail("unreachable", id); });
    function hear(event) {
      // The frame alone, and it speaks for its own session alone.
      if (event.origin !== base || event.source !== frame.contentWindow) return;
      const message = event.data;
      if (!message || message.source !== "pasarela" || message.sessionId !== id) return;
      ready = true;
      if (message.type === "resize" && Number.isFinite(message.height)) {
        frame.style.height = Math.min(Math.max(message.height, 120), 4000) + "px";
        return;
      }
      const call = Object.hasOwn(calls, message.type) && asked[calls[message.type]];
      const again = message.type === "failed" || message.type === "card" || !told.has(message.type);
      told.add(message.type);
      if (typeof call !== "function" || !again) return;
      const { source, type, ...about } = message;
      call(about);
    }
    window.addEventListener("message", hear);
    place.replaceChildren(frame);
    return {
      unmount() {
        over = true;
        clearTimeout(patience);
        window.removeEventListener("message", hear);
        frame.remove();
      },
    };
  }

  const mount = (target, options) => open(target, options, null, { paid: "onPaid", failed: "onFailed", expired: "onExpired" });
  const mountCard = (target, options) => open(target, options, "card", { card: "onToken" });
  window.Pasarela = Object.freeze({ mount, mountCard });
})();
