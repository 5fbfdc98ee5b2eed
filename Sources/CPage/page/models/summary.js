// The descriptions of the catalog in the language of the page; those of publishers stay as they were written.
import { language } from "../kit/texts.js";
import { libraryChanged, rowChanged, rows } from "../data/library.js";

let translated = {};

if (language !== "en") {
    import(`../texts/catalog-${language}.js`).then((module) => {
        translated = module.default;
        for (const row of rows.values()) if (row.id in translated) rowChanged.emit(row);
        libraryChanged.emit();
    }, () => {});
}

/// The description of a row.
export const summaryOf = (row) => (row.catalog && translated[row.id]) || row.summary || "";
