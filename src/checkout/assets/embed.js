// Pasarela: puts a checkout into a shop's own page.  Pasarela.mount("#pay", { clientSecret, lang, onPaid, onFailed, onExpired })
(() => {
  "use strict";
  const base = new URL(document.currentScript.src).origin;
  const session = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_secret_/;

  function mount(target, options) {
    const place = typeof target === "string" ? document.querySelector(target) : target;
    if (!place) throw new Error("Pasarela.mount: nothing on this page matches " + target);
    const found = session.exec(String((options || {}).clientSecret));
    if (!found) throw new Error("Pasarela.mount: clientSecret is not a client secret of a checkout session");
    const id = found[1];
    const address = new URL("/checkout/" + id + "/embed", base);
    address.searchParams.set("origin", location.origin);
    if (options.lang) address.searchParams.set("lang", options.lang);
    const frame = document.createElement("iframe");
    frame.src = address.href;
    frame.title = options.lang === "en" ? "Payment" : "Pago";
    frame.setAttribute("allow", "clipboard-write");
    frame.style.cssText = "width:100%;min-height:420px;border:0;color-scheme:auto";
    const told = new Set();
    function hear(event) {
      // The frame alone, and it speaks for its own session alone.
      if (event.origin !== base || event.source !== frame.contentWindow) return;
      const message = event.data;
      if (!message || message.source !== "pasarela" || message.sessionId !== id) return;
      if (message.type === "resize" && Number.isFinite(message.height)) {
        frame.style.height = Math.min(Math.max(message.height, 120), 4000) + "px";
        return;
      }
      const call = { paid: options.onPaid, failed: options.onFailed, expired: options.onExpired }[message.type];
      const again = message.type === "failed" || !told.has(message.type);
      told.add(message.type);
      if (typeof call === "function" && again) call({ sessionId: id });
    }
    window.addEventListener("message", hear);
    place.replaceChildren(frame);
    return {
      unmount() {
        window.removeEventListener("message", hear);
        frame.remove();
      },
    };
  }

  window.Pasarela = Object.freeze({ mount });
})();
