// Words of questions and answers, which are loaded with the first of them.
export default {
    // Chat
    "chat.you": "Sie", "chat.assistant": "Antwort", "chat.gone": "Dieses Gespräch ist gelöscht.",
    "chat.delete-from": "Ab hier löschen",
    "chat.edit": "Frage ändern", "chat.edit.hint": "Die neue Frage wird ein Zweig; die alte bleibt.", "chat.edit.send": "Senden", "chat.answer": "Antworten", "chat.regenerate": "Neu antworten",
    "chat.branches": "Alternativen", "chat.branch": "{index}/{count}", "chat.branch.previous": "Vorige Alternative", "chat.branch.next": "Nächste Alternative",
    "chat.thinking": "Denkt…", "chat.thoughts": "Gedanken", "chat.answer-now": "Jetzt antworten",
    "chat.picture": "Bild {number}", "chat.image": "Bild: {name}", "chat.code": "Code.", "chat.code.plain": "Text", "chat.table": "Tabelle", "chat.formula": "Formel", "chat.sources": "Quellen",
    "chat.gone.elsewhere": "Dieses Gespräch wurde anderswo gelöscht. Was hier steht, wird nicht aufbewahrt.", "chat.gone.private": "Dieses private Gespräch endete mit dem Server. Was hier steht, wird nicht aufbewahrt.", "chat.continue-locally": "Auf diesem Gerät fortsetzen",
    "ending.continue": "Fortsetzen", "ending.choose-model": "Modell wählen", "ending.free-memory": "Speicher freigeben", "ending.open-settings": "Einstellungen öffnen",
    "ending.stopped": "Diese Antwort wurde angehalten.", "ending.length": "Die Antwort hat ihre größte Länge erreicht.", "ending.context-full": "Das Kontextfenster ist voll.", "ending.timeout": "Die Zeit für die Antwort war um.", "ending.timed-out": "Die Zeit für die Antwort war um.",
    "ending.interrupted": "Die Verbindung zur Cloud brach ab.", "ending.unfinished": "Die Antwort brach ab, als der Server endete.", "ending.server-ended": "Die Antwort brach ab, als der Server endete.", "ending.repeating": "Die Antwort begann sich zu wiederholen.", "ending.content-filter": "Die Cloud hält den Rest dieser Antwort zurück.",
    "ending.not-installed": "Das Modell ist nicht auf diesem Gerät.", "ending.model-not-loaded": "Es ist kein Modell dieses Geräts gewählt.", "ending.model-not-found": "Das Modell ist nicht auf diesem Gerät.", "ending.not-enough-memory": "Das Modell braucht mehr Speicher, als frei ist.", "ending.cannot-load-model": "Das Modell ließ sich nicht laden.", "ending.engine-died": "Das Modell endete unerwartet.",
    "ending.context-window-exceeded": "Die Frage ist länger als das Kontextfenster des Modells.", "ending.unreachable": "Die Cloud ist nicht erreichbar.", "ending.unauthorised": "Die Cloud hat den Schlüssel abgelehnt.", "ending.no-credits": "In diesem Monat ist kein Guthaben mehr übrig.", "ending.not-entitled": "Der Tarif enthält keine Cloud.", "ending.rate-limited": "Die Cloud nimmt gerade keine Fragen mehr an.", "ending.remote-model-missing": "Die Cloud hat dieses Modell nicht.", "ending.cloud-key-unusable": "Der Schlüssel der Cloud ist nicht brauchbar.", "ending.cloud-off": "Die Cloud ist ausgeschaltet.", "ending.cloud-missing": "Es ist keine Cloud eingerichtet.",
    "phase.chat.waiting": "Wartet", "phase.chat.load": "Modell wird geladen", "phase.chat.connect": "Verbinden", "phase.chat.prefill": "Liest {done} von {total} Tokens", "phase.chat.decode": "Schreibt",
    "facts.rate": "{rate} Tokens/s", "facts.first": "erstes Token nach {seconds} s", "facts.tokens.one": "{n} Token", "facts.tokens.other": "{n} Tokens",
    "finish.length": "Längengrenze erreicht", "finish.interrupted": "angehalten", "finish.content-filter": "von der Cloud zurückgehalten", "finish.context-full": "Kontext voll", "finish.timeout": "Zeitgrenze erreicht", "finish.repeating": "hat sich wiederholt",
    "route.imported": "Importiert",
    "speech.read": "Vorlesen", "speech.stop": "Vorlesen beenden",
};
