// Icons, drawn as strokes in a square of 24. The names of the states are those of the model cards.
const shapes = {
    chat: "M4 5h16v11H9l-5 4z",
    models: "M12 3l8 4.5v9L12 21l-8-4.5v-9z M4 7.5l8 4.5 8-4.5 M12 12v9",
    stores: "M4 6h16v14H4z M4 10h16 M8 3v4 M16 3v4",
    settings: "M4 7h9 M17 7h3 M15 5v4 M4 17h3 M11 17h9 M9 15v4",
    search: "M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14z M16.2 16.2L20 20",
    plus: "M12 5v14 M5 12h14",
    close: "M6 6l12 12 M18 6L6 18",
    check: "M5 12.5l4.5 4.5L19 7.5",
    down: "M6 9l6 6 6-6",
    next: "M9 6l6 6-6 6",
    previous: "M15 6l-6 6 6 6",
    more: "M5 12h.01 M12 12h.01 M19 12h.01",
    menu: "M4 7h16 M4 12h16 M4 17h16",
    send: "M12 19V5 M6 11l6-6 6 6",
    stop: "M7 7h10v10H7z",
    picture: "M4 5h16v14H4z M4 16l4.5-4.5 4 4 3-3L20 17 M15 9h.01",
    attach: "M19.5 11.5l-8 8a5 5 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.7 1.7 0 0 1-2.4-2.4l7.7-7.8",
    camera: "M4 8h4l1.5-2h5L16 8h4v11H4z M12 10.5a3 3 0 1 0 0 6a3 3 0 0 0 0-6z",
    thought: "M12 4a5.5 5.5 0 0 1 3 10c-.7.6-1 1.2-1 2v1h-4v-1c0-.8-.3-1.4-1-2a5.5 5.5 0 0 1 3-10z M10 20h4",
    copy: "M9 9h11v11H9z M5 15H4V4h11v1",
    edit: "M4 20h4L19 9l-4-4L4 16z",
    again: "M19 12a7 7 0 1 1-2-4.9 M19 4v4h-4",
    branch: "M7 4v16 M7 12c6 0 10-1 10-6 M17 4v2",
    remove: "M5 7h14 M9 7V4h6v3 M7 7l1 13h8l1-13",
    undo: "M8 5L4 9l4 4 M4 9h9a6 6 0 0 1 0 12h-3",
    export: "M12 15V4 M8 8l4-4 4 4 M5 14v6h14v-6",
    download: "M12 4v11 M8 11l4 4 4-4 M5 14v6h14v-6",
    archive: "M4 5h16v4H4z M6 9v10h12V9 M10 13h4",
    folder: "M4 6h6l2 2h8v11H4z",
    link: "M10 14l8-8 M13 6h5v5 M17 14v5H5V7h5",
    memory: "M7 7h10v10H7z M10 3v4 M14 3v4 M10 17v4 M14 17v4 M3 10h4 M3 14h4 M17 10h4 M17 14h4",
    pin: "M9 4h6l-1 6 3 3H7l3-3z M12 13v7",
    shield: "M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6z M9 12l2 2 4-4",
    pause: "M9 6v12 M15 6v12",
    play: "M8 5l11 7-11 7z",
    cloud: "M7 18a4 4 0 0 1-.5-8A6 6 0 0 1 18 9.5 4.3 4.3 0 0 1 17.5 18z",
    device: "M5 5h14v10H5z M3 19h18",
    phone: "M8 3h8v18H8z M11 18h2",
    key: "M14.5 4a5 5 0 1 0 0 10a5 5 0 0 0 0-10z M11 12l-7 7v1h3v-2h2v-2",
    eye: "M3 12c3-5 6-6.5 9-6.5s6 1.5 9 6.5c-3 5-6 6.5-9 6.5S6 17 3 12z M12 9.5a2.5 2.5 0 1 0 0 5a2.5 2.5 0 0 0 0-5z",
    warning: "M12 4l9 16H3z M12 10v4 M12 17h.01",
    // Model states.
    "not-downloaded": "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z M12 7.5v8 M8.5 12.5L12 16l3.5-3.5",
    downloaded: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z M8 12.5l3 3 5.5-6",
    failed: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z M12 7.5v5.5 M12 16.3h.01",
    circle: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z",
    bell: "M6 17v-6a6 6 0 0 1 12 0v6l1.5 2h-15z M10 21h4 M12 3v2",
    speak: "M4 9h4l5-4v14l-5-4H4z M16 9a4 4 0 0 1 0 6 M18.5 6.5a8 8 0 0 1 0 11",
    import: "M12 4v11 M8 11l4 4 4-4 M4 15v5h16v-5",
    all: "M4 5h7v7H4z M13 5h7v7h-7z M4 14h7v6H4z M13 14h7v6h-7z",
    // Stores.
    calendar: "M4 6h16v14H4z M4 10h16 M8 3v4 M16 3v4",
    reminders: "M9 6h11 M9 12h11 M9 18h11 M4 6l1 1 2-2 M4 12l1 1 2-2 M4 18l1 1 2-2",
    notes: "M6 3h9l4 4v14H6z M15 3v4h4 M9 12h7 M9 16h7",
    contacts: "M12 4a4 4 0 1 0 0 8a4 4 0 0 0 0-8z M4 21c0-4 4-6 8-6s8 2 8 6",
    habits: "M4 13h4l2-7 4 13 2-6h4",
    web: "M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18z M3 12h18 M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9s.5-6 3.5-9z",
};
shapes.downloading = shapes["not-downloaded"];
shapes.waiting = shapes["not-downloaded"];
shapes["update-available"] = shapes.downloaded;
shapes.incompatible = shapes.failed;

const SVG = "http://www.w3.org/2000/svg";

/// Makes an icon; it has no name for screen readers, so its button or text has to have one.
export function icon(name) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("class", `icon icon-${name}`);
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", shapes[name] ?? shapes.circle);
    svg.append(path);
    return svg;
}
