// Die Texte der Seite auf Deutsch. `{name}` ist ein Wert; `key.one` und `key.other` wählt der Wert `n`.
export default {
    // Words of all screens
    "nav.chat": "Chat", "nav.models": "Modelle", "nav.read": "Lesen", "nav.stores": "Einträge", "nav.settings": "Einstellungen", "nav.skip": "Zum Inhalt",
    "cancel": "Abbrechen", "close": "Schließen", "copied": "Kopiert", "copy": "Kopieren", "copy.refused": "Der Browser hat das Kopieren nicht erlaubt.", "delete": "Löschen", "more": "Mehr", "retry": "Noch einmal",
    "save": "Sichern", "saved": "Gesichert", "undo": "Rückgängig", "undone": "Rückgängig gemacht",
    "connection.lost": "Verbindung verloren. Neuer Versuch läuft…",
    "sign-in": "Anmelden",
    "signed-out": "Dieser Browser ist abgemeldet. Starten Sie hearth serve --detach und öffnen Sie die ausgegebene Adresse.",
    "error.unreachable": "Hearth antwortet nicht.", "error.unreachable.remedy": "Prüfen Sie, ob hearth serve läuft.",
    "error.unknown": "Der Server antwortete mit Status {status}.", "error.page": "Das ging nicht: {reason}",
    "news": "Neuigkeiten",

    // First run
    "welcome.title": "KI-Modelle auf Ihrem eigenen Gerät", "welcome.reading": "Die Liste der Modelle wird gelesen",
    "welcome.ask": "Was kann ich für Sie tun?",
    "suggest.plan": "Plane ein ruhiges Wochenende mit zwei Wanderungen", "suggest.explain": "Erkläre, wie ein Sprachmodell einen Satz liest",
    "suggest.note": "Notiere, dass der Ersatzschlüssel bei Anna liegt", "suggest.write": "Schreibe eine freundliche Erinnerung, ein Buch zurückzugeben",

    // Models
    "download.model": "Modell laden",

    // Chat
    "chats.title": "Gespräche", "chats.search": "Suchen", "chats.none": "Noch keine Gespräche", "chats.no-hit": "Nichts gefunden",
    "chats.none-here": "Hier sind keine Gespräche", "chats.filter": "Welche Gespräche", "chats.all": "Alle Gespräche", "chats.folder": "{name} ({count})", "chats.archived": "Archiviert ({count})", "chats.archived.mark": "Archiviert",
    "chats.pinned": "Angeheftet", "chats.week": "Letzte 7 Tage", "chats.month": "Letzte 30 Tage", "chats.menu": "„{title}“ verwalten", "chats.pin": "Anheften", "chats.unpin": "Lösen", "chats.archive": "Archivieren", "chats.unarchive": "Aus dem Archiv holen",
    "chats.move": "In Ordner verschieben…",
    "chats.hits.one": "{n} Nachricht", "chats.hits.other": "{n} Nachrichten", "chats.from": "Von", "chats.until": "Bis",
    "chat.new": "Neues Gespräch", "chat.untitled": "Neues Gespräch", "chat.private": "Privat", "chat.log": "Gespräch",
    "chat.model": "Modell für Text", "chat.context": "Kontext: {used} von {length} Tokens", "chat.commands": "Befehle des Gesprächs",
    "chat.rename": "Umbenennen", "chat.export.markdown": "Als Markdown ausgeben", "chat.export.json": "Als JSON ausgeben",
    "chat.delete": "Gespräch löschen",
    "chat.answering": "Antwortet", "chat.jump": "Zur neuesten Nachricht",
    "chat.settings": "Einstellungen dieses Gesprächs", "chat-settings.default": "Standard: {value}",
    "chat-settings.model.none": "Modell wählen", "chat-settings.model.gone": "{name} (nicht auf diesem Gerät)",
    "route.local": "Auf diesem Gerät", "route.cloud": "Cloud", "route.credits": "{left} von {of}", "route.force-local": "Klicken, um nur auf diesem Gerät zu antworten.", "route.allow-cloud": "Klicken, um die Cloud zu erlauben.",
    "reason.force-local": "Nur dieses Gerät wurde gewählt.", "reason.imported": "Diese Antwort wurde importiert.", "reason.private": "Das Gespräch ist privat.", "reason.local-preferred": "Eine Antwort dieses Geräts war verlangt.", "reason.model-named": "Ein Modell dieses Geräts war genannt.", "reason.upstream": "Ein Modell eines anderen Servers war genannt.",
    "reason.cloud-missing": "Keine Cloud ist eingerichtet.", "reason.tier": "Der Tarif hat keine Cloud.", "reason.no-credits": "Das Guthaben dieses Monats ist aufgebraucht.", "reason.offline": "Das Gerät ist offline.", "reason.settling": "Die Verbindung ist neu; die Cloud folgt bald.",
    "reason.checking": "Die Cloud wird geprüft.", "reason.unhealthy": "Die letzte Prüfung der Cloud schlug fehl.", "reason.failing": "Die Cloud ist wiederholt ausgefallen.", "reason.paused": "Die Cloud pausiert.", "reason.cloud": "Die Cloud ist erlaubt und erreichbar.", "reason.took-over": "Dieses Gerät hat von der Cloud übernommen.",
    "composer.label": "Frage", "composer.placeholder": "Fragen Sie etwas, oder / für Befehle", "composer.early": "Fragen Sie etwas. Die Antwort kommt, sobald ein Modell bereit ist.", "composer.hint": "Modelle machen Fehler. Eingabe sendet, Umschalt+Eingabe beginnt eine Zeile.",
    "composer.send": "Senden", "composer.stop": "Anhalten", "composer.picture": "Bild hinzufügen", "composer.pictures": "Bilder", "composer.picture.remove": "{name} entfernen", "composer.no-picture": "{name} ist kein Bild.",
    "composer.file": "Datei anhängen", "composer.pasted": "Eingefügter Text.txt",
    "composer.camera": "Bild aufnehmen", "composer.think": "Denken", "composer.think.hint": "Das Modell denkt nach, bevor es antwortet", "composer.waiting": "Wird gesendet, sobald das Modell bereit ist.",
};
