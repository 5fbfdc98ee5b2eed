// DOMPurify as Debian packs it (2.4.1+deb12u1), with what its security update needs to run.
import DOMPurify from "/page/lib/purify.js";

// The update of Debian reads `shadowNode.__depth` of the root outside the function that declares it, so every call would
// throw. The root has the depth 0; the nodes below it are counted and limited by DOMPurify itself.
Object.defineProperty(globalThis, "shadowNode", { value: Object.freeze({ __depth: 0 }) });

/// Builds elements from HTML and removes what the rules do not allow. Neither data nor ARIA attributes are allowed.
export function sanitise(html, { tags, attributes, addresses }) {
    return DOMPurify.sanitize(html, {
        ALLOWED_TAGS: tags, ALLOWED_ATTR: attributes, ...(addresses && { ALLOWED_URI_REGEXP: addresses }),
        // Their values are not addresses.
        ADD_URI_SAFE_ATTR: ["align", "start"], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true,
    });
}
