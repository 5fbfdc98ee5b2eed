// Written by scripts/apple/words.py from the texts of the page.

extension Words {
    /// The sentences of failures in German, by code.
    static let refusals: [String: String] = [
        "bad-request":
            "Ein Wert der Anfrage passt nicht.",
        "unknown-field":
            "Die Anfrage hat ein unbekanntes Feld.",
        "media-type":
            "Dateien dieser Art nimmt Hearth hier nicht.",
        "body-too-large":
            "Das sind mehr Bytes, als hier auf einmal gehen.",
        "not-found":
            "Das gibt es nicht mehr.",
        "failed":
            "Im Server ging etwas schief. Sein Protokoll nennt den Grund.",
        "ending":
            "Der Server endet gerade. Versuchen Sie es gleich noch einmal.",
        "busy":
            "Gerade ist zu viel zu tun. Versuchen Sie es gleich noch einmal.",
        "not-waiting":
            "Diese Aktion wartet nicht mehr auf eine Entscheidung.",
        "code-required":
            "Ein neuer Schlüssel braucht einen ausgegebenen Code, der noch nicht benutzt wurde.",
        "unknown-code":
            "Dieser Code ist falsch, schon benutzt oder zu alt. Holen Sie einen neuen.",
        "already-answering":
            "Dieses Gespräch antwortet gerade.",
        "no-vision":
            "Dieses Modell sieht keine Bilder.",
        "not-listed":
            "Dieses Modell steht nicht in der Liste.",
        "invalid-configuration":
            "Dieser Wert passt nicht.",
        "unknown-setting":
            "Diese Einstellung gibt es nicht.",
        "settings-busy":
            "Ein anderes Programm ändert gerade die Einstellungen. Versuchen Sie es gleich noch einmal.",
        "unusable-setting":
            "Dieser Wert ist hier nicht benutzbar.",
        "file-not-found":
            "Eine Datei oder ein Ordner fehlt.",
        "permission-denied":
            "Dafür fehlen die Rechte an einer Datei oder einem Ordner.",
        "read-only":
            "Das Laufwerk erlaubt nur Lesen.",
        "disk-full":
            "Das Laufwerk ist voll. Machen Sie Platz und versuchen Sie es noch einmal; Empfangenes bleibt.",
        "not-a-folder":
            "Ein Teil des Pfads ist kein Ordner.",
        "file-exists":
            "Den Namen gibt es schon.",
        "io-failure":
            "Das Laufwerk meldet einen Fehler.",
        "insufficient-storage":
            "Für dieses Modell ist zu wenig Platz frei. Machen Sie Platz; Empfangenes bleibt.",
        "not-gguf":
            "Die Datei ist kein Modell im Format GGUF. Laden Sie sie noch einmal.",
        "gguf-truncated":
            "Die Datei des Modells ist unvollständig. Laden Sie sie noch einmal.",
        "gguf-trailing-bytes":
            "Die Datei des Modells hat überzählige Bytes. Der Herausgeber muss sie neu schreiben.",
        "gguf-corrupt":
            "Die Datei des Modells ist beschädigt. Laden Sie sie noch einmal.",
        "gguf-unsupported-version":
            "Das Modell hat eine Fassung von GGUF, die Hearth nicht liest.",
        "bad-reference":
            "Das ist kein Name und keine Adresse eines Modells.",
        "unknown-family":
            "Kein Modell hat diesen Namen.",
        "unknown-version":
            "Das Modell hat keine solche Version.",
        "unknown-variant":
            "Die Version hat keine solche Variante.",
        "model-not-found":
            "Dieses Modell ist weder auf diesem Gerät noch wird es angeboten.",
        "not-installed":
            "Dieses Modell ist nicht auf diesem Gerät.",
        "no-active-release":
            "Keine Version dieses Modells ist aktiv.",
        "nothing-before":
            "Vor dieser Version war keine aktiv.",
        "release-damaged":
            "Eine Datei des Modells fehlt oder ist beschädigt. Laden Sie das Modell noch einmal.",
        "release-in-use":
            "Das Modell wird gerade benutzt. Versuchen Sie es später noch einmal.",
        "not-repairable":
            "Das Modell lässt sich nicht reparieren. Entfernen und laden Sie es noch einmal.",
        "probe-failed":
            "Das Modell hat die Probe nicht bestanden. Das bisherige bleibt.",
        "held-back":
            "Diese Version wird zurückgehalten, weil sie hier versagt hat.",
        "yanked":
            "Der Herausgeber hat diese Version zurückgezogen.",
        "several-models":
            "Mehrere Modelle können antworten. Wählen Sie eines.",
        "no-model":
            "Kein Modell ist auf diesem Gerät.",
        "model-not-loaded":
            "Kein Modell ist geladen.",
        "model-unloading":
            "Das Modell wird gerade entladen. Fragen Sie gleich noch einmal.",
        "cannot-load-model":
            "Das Modell lässt sich nicht laden. Prüfen Sie seine Dateien, oder nehmen Sie ein kleineres.",
        "not-enough-memory":
            "Für dieses Modell reicht der Arbeitsspeicher nicht. Nehmen Sie ein kleineres.",
        "app-too-old":
            "Dieses Modell braucht eine neuere Fassung von Hearth.",
        "no-engine":
            "Dieses Programm kann ein solches Modell nicht ausführen.",
        "not-in-rollout":
            "Diese Version wird diesem Gerät noch nicht angeboten.",
        "engine-missing":
            "Dieses Programm kann ein solches Modell nicht ausführen.",
        "download-in-progress":
            "Ein anderes Modell wird gerade geladen.",
        "unusable-folder":
            "Der Name des Ordners hat mehr als 60 oder unsichtbare Zeichen.",
        "unusable-cursor":
            "Diese Stelle der Liste gibt es nicht mehr. Laden Sie die Liste neu.",
        "import-unreadable":
            "Die Datei ist beschädigt, abgeschnitten oder weder JSON noch ein ZIP-Archiv. Exportieren Sie sie noch einmal.",
        "import-too-large":
            "Die Datei oder ihr Inhalt ist zu groß. Importieren Sie sie in Teilen.",
        "import-unsafe":
            "Das Archiv hat Namen, die kein Export hat. Wählen Sie die ZIP-Datei, wie sie exportiert wurde.",
        "import-unknown-format":
            "Die Datei ist kein Export von Hearth, ChatGPT oder Open WebUI.",
        "network-error":
            "Das Netz oder ein Server hat versagt. Versuchen Sie es noch einmal; Empfangenes bleibt.",
        "offline":
            "Es gibt gerade kein Netz.",
        "metered-network":
            "Dieses Netz ist getaktet, und das Laden ist nur in anderen erlaubt.",
        "unsupported-url":
            "Die Adresse muss mit https beginnen.",
        "host-not-found":
            "Diesen Server gibt es nicht. Prüfen Sie die Adresse und die Verbindung.",
        "cannot-connect":
            "An dieser Adresse antwortet kein Server.",
        "timed-out":
            "Der Server hat zu lange gebraucht. Versuchen Sie es noch einmal; Empfangenes bleibt.",
        "connection-lost":
            "Die Verbindung ist abgebrochen. Beim nächsten Versuch geht es weiter.",
        "tls-failure":
            "Das Zertifikat des Servers ist nicht gültig. Prüfen Sie Uhr und Adresse.",
        "insecure-redirect":
            "Der Server leitet auf eine unverschlüsselte Adresse um. Hearth folgt dem nicht.",
        "too-many-redirects":
            "Der Server leitet im Kreis um.",
        "bad-response":
            "Die Antwort des Servers ist nicht lesbar.",
        "response-too-large":
            "Die Antwort des Servers ist zu groß.",
        "checksum-mismatch":
            "Die geladene Datei stimmt nicht mit ihrer Prüfsumme überein und wurde entfernt. Versuchen Sie es noch einmal.",
        "size-mismatch":
            "Die Datei hat eine andere Größe als angekündigt.",
        "web-page":
            "Statt der Datei kam eine Webseite. Melden Sie sich zuerst im Netz an, oder prüfen Sie die Adresse.",
        "missing-at-origin":
            "Der Server hat diese Datei nicht.",
        "access-denied":
            "Der Server verlangt eine Anmeldung oder lehnt sie ab.",
        "server-busy":
            "Der Server ist überlastet. Versuchen Sie es später noch einmal; Empfangenes bleibt.",
        "transfer-busy":
            "Diese Datei wird schon geladen.",
        "unknown-transfer":
            "Diese Übertragung gibt es nicht mehr.",
        "not-resumable":
            "Diese Übertragung lässt sich nicht fortsetzen. Laden Sie das Modell noch einmal; Empfangenes bleibt.",
        "cancelled":
            "Die Übertragung wurde abgebrochen.",
        "manifest-invalid":
            "Die Liste des Herausgebers ist fehlerhaft.",
        "not-a-manifest":
            "An dieser Adresse liegt keine Liste von Modellen.",
        "origin-unreachable":
            "Der Herausgeber antwortet nicht. Versuchen Sie es später noch einmal.",
        "origin-refused":
            "Der Herausgeber gibt an dieser Adresse keine Liste heraus.",
        "repository-missing":
            "Der Hub hat kein solches Repository.",
        "repository-gated":
            "Dieses Repository verlangt eine Anmeldung beim Hub.",
        "unknown-file":
            "Das Repository hat keine solche Datei.",
        "unknown-revision":
            "Das Repository hat keine solche Fassung.",
        "no-known-model":
            "Das Repository hat kein Modell, das Hearth kennt.",
        "hub-answer-invalid":
            "Die Antwort des Hubs ist nicht lesbar.",
        "registry-answer-invalid":
            "Die Antwort der Registry ist nicht lesbar.",
        "no-trusted-root":
            "Dieser Herausgeber unterschreibt seine Listen, und Sie haben seinen Schlüsseln noch nicht vertraut.",
        "too-few-signatures":
            "Die Unterschriften des Herausgebers stimmen nicht.",
        "metadata-expired":
            "Die Unterschriften des Herausgebers sind abgelaufen.",
        "context-window-exceeded":
            "Die Frage ist für dieses Modell zu lang. Kürzen Sie sie, oder beginnen Sie ein neues Gespräch.",
        "chat-template-failed":
            "Das Modell kommt mit diesem Gespräch nicht zurecht.",
        "engine-died":
            "Das Modell ist abgestürzt. Versuchen Sie es noch einmal, oder nehmen Sie ein anderes.",
        "not-finite":
            "Das Modell ist beschädigt. Prüfen Sie seine Dateien.",
        "generation-failed":
            "Beim Antworten ging etwas schief. Versuchen Sie es noch einmal.",
        "unreachable":
            "Die Cloud ist nicht erreichbar.",
        "unauthorised":
            "Die Cloud lehnt den Schlüssel ab. Prüfen Sie ihn in den Einstellungen.",
        "rate-limited":
            "Die Cloud nimmt gerade keine Fragen mehr. Warten Sie einen Moment.",
        "no-credits":
            "Das Guthaben ist aufgebraucht.",
        "not-entitled":
            "Ihr Tarif enthält dieses Modell nicht.",
        "remote-model-missing":
            "Die Cloud hat dieses Modell nicht.",
        "unusable-answer":
            "Die Cloud hat etwas geschickt, das keine Antwort ist.",
        "answer-interrupted":
            "Die Antwort der Cloud ist abgebrochen.",
        "cloud-key-unusable":
            "Der Schlüssel der Cloud ist nicht benutzbar: Die Datei fehlt, ist leer, oder andere dürfen sie lesen.",
        "cloud-off":
            "Die Cloud ist ausgeschaltet, oder das Gespräch ist privat.",
        "cloud-missing":
            "Keine Cloud ist eingerichtet.",
        "nothing-to-continue":
            "Keine Antwort dieses Gesprächs ist abgebrochen.",
        "cannot-read-picture":
            "Das Bild ist nicht lesbar: beschädigt, abgeschnitten oder in einem anderen Format.",
        "picture-too-large":
            "Das Bild ist zu groß. Verkleinern Sie es zuerst.",
        "document-unusable":
            "Die PDF-Datei ist nicht lesbar, oder die Programme dafür fehlen (Paket poppler-utils).",
        "vision-missing":
            "Hier fehlt die Bibliothek zum Lesen von Bildern.",
        "classifier-not-ready":
            "Kein Klassifikator ist auf diesem Gerät.",
        "classification-failed":
            "Das Lesen ist fehlgeschlagen. Verkleinern Sie das Bild.",
        "large-document":
            "Die Datei ist zu groß. Hängen Sie den Teil an, auf den es ankommt.",
        "unknown-document":
            "Die Datei ist weder Text noch PDF noch .docx. Speichern Sie sie in einem dieser Formate.",
        "unreadable-document":
            "Die Datei ist abgeschnitten oder beschädigt. Öffnen Sie sie mit dem Programm, das sie geschrieben hat, und speichern Sie sie neu.",
        "encrypted-document":
            "Die Datei braucht ein Passwort. Speichern Sie sie ohne eines.",
        "missing-program":
            "PDF-Dateien liest pdftotext aus dem Paket poppler-utils, das hier fehlt. Installieren Sie es.",
        "changed-elsewhere":
            "Ein anderes Programm hat den Eintrag inzwischen geändert. Es wurde nichts überschrieben.",
        "no-such-record":
            "Diesen Eintrag gibt es nicht mehr.",
        "ambiguous-record":
            "Mehrere Einträge passen. Nennen Sie mehr vom Titel.",
        "unusable-record":
            "Diese Datei ist nicht lesbar: Hearth nimmt Kalender (.ics) und Adressbücher (.vcf).",
        "too-many-records":
            "Die Datei hat mehr als 10.000 Einträge. Teilen Sie sie.",
        "unusable-recurrence":
            "Eine solche Wiederholung legt Hearth nicht an.",
        "unusable-payload":
            "Ein Wert fehlt oder passt nicht.",
        "cannot-be-undone":
            "Das lässt sich nicht rückgängig machen.",
        "no-such-message":
            "Diese Nachricht gibt es nicht mehr.",
        "search-failed":
            "Die Suche hat nicht funktioniert.",
        "search-off":
            "Keine Suche ist eingerichtet.",
        "page-refused":
            "Diese Seite öffnet Hearth nicht.",
        "unreadable-page":
            "Diese Seite hat keinen lesbaren Text.",
        "database-busy":
            "Ein anderes Programm schreibt gerade. Versuchen Sie es gleich noch einmal.",
        "database-disk-full":
            "Das Laufwerk ist voll; die Änderung ist nicht geschehen.",
        "database-read-only":
            "Die Einträge lassen sich nicht schreiben.",
        "database-damaged":
            "Die Datenbank ist beschädigt.",
        "database-failed":
            "Die Datenbank meldet einen Fehler.",
        "key-exists":
            "Ein anderer Schlüssel hat diesen Namen.",
        "too-many-keys":
            "Es gibt schon 256 Schlüssel.",
        "unknown-key":
            "Diesen Schlüssel gibt es nicht.",
        "key-required":
            "Dafür ist ein Schlüssel nötig.",
        "owner-required":
            "Das darf nur, wer hier angemeldet ist.",
    ]
}
