// Libraries that are no modules: each is loaded as a script at its first use.
const known = { "highlight.js": "hljs", "katex.js": "katex" };
const path = (name) => `/page/lib/${name}`;
const addresses = globalThis.trustedTypes?.createPolicy("hearth", {
    createScriptURL: (address) => {
        if (Object.keys(known).some((name) => address === path(name))) return address;
        throw new TypeError("not a script of this page");
    },
});

const loading = new Map();

/// Loads a library once and returns its global object; a failure may be tried again.
export function library(name) {
    if (!loading.has(name)) loading.set(name, new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = addresses ? addresses.createScriptURL(path(name)) : path(name);
        script.onload = () => resolve(globalThis[known[name]]);
        script.onerror = () => { loading.delete(name); reject(new Error(name)); };
        document.head.append(script);
    }));
    return loading.get(name);
}
