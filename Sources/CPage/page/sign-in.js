// Signs this browser in: exchanges the printed code for the cookie of a session, and for the secret that the pages of this
// origin keep. Other ports of this host get the cookie as well, but never the secret.
const form = document.querySelector("form");
const problem = document.getElementById("problem");

async function signIn(code) {
    problem.textContent = "";
    let reply = {};
    try {
        const response = await fetch("/hearth/open", {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }),
        });
        reply = await response.json();
        if (response.ok) {
            localStorage.setItem("hearth-page", reply.page);
            if (location.pathname === "/") location.reload(); else location.replace("/");
            return;
        }
    } catch {
        reply = {};
    }
    problem.textContent = reply.error?.code === "unknown-code"
        ? "This code is wrong, was used already or is too old. Ask for another."
        : reply.error?.message ?? "Hearth does not answer, or this browser keeps no data of pages.";
    form.elements.code.focus();
}

form.addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(form.elements.code.value);
});

const code = new URLSearchParams(location.search).get("code");
if (code) {
    // The code stays in no history.
    history.replaceState(null, "", "/hearth/open");
    if (!problem.textContent) signIn(code);
}
