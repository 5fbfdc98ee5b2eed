// Words of reading pictures.
export default {
    // Reading pictures
    "read.title": "Eine Seite mit Schriftzeichen lesen", "read.drop": "Scan oder Foto hierher ziehen: JPEG, PNG, BMP, TIFF oder PDF. Es bleibt auf diesem Gerät.", "read.choose": "Bild auswählen",
    "read.direction": "Leserichtung", "read.direction.auto": "Richtung erkennen", "read.direction.columns": "Spalten, von rechts", "read.direction.rows": "Zeilen, von oben",
    "read.no-picture": "{name} ist kein Bild im Format JPEG, PNG, BMP, TIFF oder PDF.", "read.too-large": "{name} ist größer als {size} MiB. Verkleinern Sie das Bild zuerst.", "read.reading": "{name} wird gelesen…", "read.stop": "Anhalten", "read.found.one": "{n} Zeichen, gelesen von {model}", "read.found.other": "{n} Zeichen, gelesen von {model}",
    "read.none": "Noch ist kein Klassifikator auf diesem Gerät. Das ist ein kleines Modell, das Schriftzeichen unterscheidet.", "read.none.remedy": "Wählen Sie eines unter den Modellen, oder im Terminal:", "read.model": "Klassifikator",
    "read.scan": "Der Scan", "read.panel": "Ausgewähltes Zeichen", "read.crop": "Das Zeichen auf dem Scan", "read.text": "Text", "read.correct": "Anderes Zeichen", "read.export.text": "Textdatei",
    "read.cell": "Zeichen {place}: {text}, {verdict}, {confidence}",
    "read.verdict.accepted": "sicher", "read.verdict.uncertain": "ziemlich sicher", "read.verdict.unverified": "ungeprüft", "read.verdict.verified": "aus der Cloud", "read.verdict.corrected": "von Ihnen korrigiert",
    "read.decode-all": "Alle entziffern", "read.decode-all.offer.one": "Bei {n} Zeichen ist dieses Gerät nicht sicher. „Alle entziffern“ sendet sein Bild an {cloud}: {requests} Anfragen.", "read.decode-all.offer.other": "Bei {n} Zeichen ist dieses Gerät nicht sicher. „Alle entziffern“ sendet ihre Bilder an {cloud}: {requests} Anfragen.", "read.decode-all.credits": "Von {of} Guthaben sind diesen Monat noch {left} übrig; jede Anfrage braucht eines.",
};
