// Words of reading pictures.
export default {
    // Reading pictures
    "read.title": "Read a page of characters", "read.drop": "Drop a scan or photo here: JPEG, PNG, BMP, TIFF or PDF. It stays on this device.", "read.choose": "Choose a picture",
    "read.direction": "Reading direction", "read.direction.auto": "Find the direction", "read.direction.columns": "Columns, from the right", "read.direction.rows": "Rows, from the top",
    "read.no-picture": "{name} is no picture of the format JPEG, PNG, BMP, TIFF or PDF.", "read.too-large": "{name} is larger than {size} MiB. Make it smaller first.", "read.reading": "Reading {name}…", "read.stop": "Stop", "read.found.one": "{n} character, read by {model}", "read.found.other": "{n} characters, read by {model}",
    "read.none": "No classifier is on this device yet. One is a small model that tells characters apart.", "read.none.remedy": "Choose one among the models, or in a terminal:", "read.model": "Classifier",
    "read.scan": "The scan", "read.panel": "Chosen character", "read.crop": "The character on the scan", "read.text": "Text", "read.correct": "Other character", "read.export.text": "Text file",
    "read.cell": "Character {place}: {text}, {verdict}, {confidence}",
    "read.verdict.accepted": "sure", "read.verdict.uncertain": "fairly sure", "read.verdict.unverified": "unverified", "read.verdict.verified": "by the cloud", "read.verdict.corrected": "corrected by you",
    "read.decode-all": "Decode All", "read.decode-all.offer.one": "This device is not sure of {n} character. Decode All sends its picture to {cloud}: {requests} requests.", "read.decode-all.offer.other": "This device is not sure of {n} characters. Decode All sends their pictures to {cloud}: {requests} requests.", "read.decode-all.credits": "{left} of {of} credits are left this month; each request takes one.",
};
