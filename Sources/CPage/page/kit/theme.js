// Light, dark, or as the system.

/// The setting: "" for that of the system, "light" or "dark".
export const theme = () => localStorage.getItem("hearth-theme") ?? "";

export function setTheme(name) {
    if (name) localStorage.setItem("hearth-theme", name); else localStorage.removeItem("hearth-theme");
    applyTheme();
}

export function applyTheme() {
    const name = theme();
    if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
}
