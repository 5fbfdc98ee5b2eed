// Signs this browser in: exchanges the printed code for the cookie of a session, and for the secret that the pages of this
// origin keep. Other ports of this host get the cookie as well, but never the secret.
const texts = {
    en: {
        title: "Sign in to Hearth", code: "Code", submit: "Sign in", home: "Signed in already? Go to Hearth",
        lead: "Type the code that {command} prints on the machine with Hearth, or that a signed-in browser shows under Settings, Devices.",
        "unknown-code": "This code is wrong. Compare it with the one on the screen.",
        "used-code": "This code was used already. Each code signs one browser in; ask for another.",
        "old-code": "This code is too old. Ask for another.",
        "too-many-codes": "Too many wrong codes were tried. Try again in {seconds} seconds.",
        unreachable: "Hearth does not answer. Check that it runs and that this device is in the same network.",
        "no-storage": "This browser keeps no data of pages. Allow it, or leave the private window.",
    },
    de: {
        title: "Bei Hearth anmelden", code: "Code", submit: "Anmelden", home: "Schon angemeldet? Weiter zu Hearth",
        lead: "Den Code eingeben, den {command} auf dem Gerät mit Hearth ausgibt oder den ein angemeldeter Browser unter Einstellungen, Geräte zeigt.",
        "unknown-code": "Dieser Code ist falsch. Vergleichen Sie ihn mit dem auf dem Bildschirm.",
        "used-code": "Dieser Code wurde schon benutzt. Jeder Code meldet einen Browser an; fordern Sie einen neuen an.",
        "old-code": "Dieser Code ist zu alt. Fordern Sie einen neuen an.",
        "too-many-codes": "Zu viele falsche Codes wurden probiert. Versuchen Sie es in {seconds} Sekunden noch einmal.",
        unreachable: "Hearth antwortet nicht. Prüfen Sie, ob es läuft und ob dieses Gerät im selben Netz ist.",
        "no-storage": "Dieser Browser behält keine Daten von Seiten. Erlauben Sie es, oder verlassen Sie das private Fenster.",
    },
};
const main = document.querySelector("main");
const form = document.querySelector("form");
const field = form.elements.code;
const button = form.querySelector("button");
const problem = document.getElementById("problem");

function kept(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}

const language = [kept("hearth-language"), ...navigator.languages].map((tag) => tag?.slice(0, 2)).find((tag) => texts[tag]) ?? "en";
const words = texts[language];

function draw() {
    document.documentElement.lang = language;
    document.querySelector("h1").textContent = words.title;
    const [before, after] = words.lead.split("{command}");
    const command = document.createElement("code");
    command.textContent = main.dataset.command;
    document.getElementById("lead").replaceChildren(before, command, after);
    form.querySelector("label").textContent = words.code;
    button.textContent = words.submit;
    main.querySelector("a").textContent = words.home;
}

function refuse(code, seconds) {
    problem.textContent = (words[code] ?? words.unreachable).replace("{seconds}", seconds ?? "60");
    field.setAttribute("aria-invalid", "true");
    field.focus();
}

async function signIn(code) {
    problem.textContent = "";
    button.setAttribute("aria-busy", "true");
    try {
        const response = await fetch("/hearth/open", {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }),
        });
        const reply = await response.json();
        if (!response.ok) return refuse(reply.error?.code, response.headers.get("Retry-After"));
        try {
            localStorage.setItem("hearth-page", reply.page);
        } catch {
            return refuse("no-storage");
        }
        if (location.pathname === "/") location.reload(); else location.replace("/");
    } catch {
        refuse("unreachable");
    } finally {
        button.removeAttribute("aria-busy");
    }
    return undefined;
}

draw();
form.addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(field.value);
});

const code = new URLSearchParams(location.search).get("code");
// The code stays in no history.
if (code) history.replaceState(null, "", "/hearth/open");
if (main.dataset.refusal) refuse(main.dataset.refusal);
else if (code) signIn(code);
