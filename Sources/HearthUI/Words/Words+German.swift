// Written by scripts/apple/words.py from the texts of the page.

extension Words {
    /// The words in German.
    static let german: [String: String] = [
        "action.append-note":
            "Notiz ergänzen",
        "action.change-event":
            "Termin ändern",
        "action.change-habit":
            "Gewohnheit ändern",
        "action.complete-reminder":
            "Erinnerung erledigen",
        "action.delete-event":
            "Termin löschen",
        "action.events":
            "Termine",
        "action.habits":
            "Gewohnheiten",
        "action.log-habit":
            "Gewohnheit eintragen",
        "action.new-event":
            "Neuer Termin",
        "action.new-habit":
            "Neue Gewohnheit",
        "action.new-note":
            "Neue Notiz",
        "action.new-reminder":
            "Neue Erinnerung",
        "action.reminders":
            "Offene Erinnerungen",
        "action.search-contacts":
            "Kontakte durchsuchen",
        "action.search-notes":
            "Notizen durchsuchen",
        "action.web-search":
            "Websuche",
        "alarm.days.one":
            "{n} Tag vorher",
        "alarm.days.other":
            "{n} Tage vorher",
        "alarm.hours.one":
            "{n} Stunde vorher",
        "alarm.hours.other":
            "{n} Stunden vorher",
        "alarm.minutes.one":
            "{n} Minute vorher",
        "alarm.minutes.other":
            "{n} Minuten vorher",
        "alarm.now":
            "zu dieser Zeit",
        "ask.metered.text":
            "{name} hat {size}. Dieses Netz ist getaktet. Jetzt {size} laden?",
        "ask.metered.title":
            "Im getakteten Netz laden?",
        "ask.metered.yes":
            "Jetzt laden",
        "ask.unverified.text":
            "Der Herausgeber von {name} nennt keine Prüfsumme. Hearth kann nicht erkennen, ob die Datei die versprochene ist.",
        "ask.unverified.title":
            "Ohne Prüfung laden?",
        "ask.unverified.yes":
            "Ungeprüft laden",
        "badge.active":
            "Aktiv",
        "badge.bundled":
            "Enthalten",
        "badge.code":
            "Code",
        "badge.embeddings":
            "Vektoren",
        "badge.mlx.title":
            "Braucht MLX, das nur auf Geräten von Apple läuft",
        "badge.recommended":
            "Empfohlen",
        "badge.tools":
            "Werkzeuge",
        "badge.tools.title":
            "Benutzt Werkzeuge gut, wie der Hersteller sagt",
        "badge.unverified":
            "Ungeprüft",
        "badge.vision":
            "Sehen",
        "banner.none":
            "Noch kann kein Modell antworten.",
        "cancel":
            "Abbrechen",
        "card.action":
            "Aktion",
        "card.approve":
            "Zustimmen",
        "card.approve-always":
            "Immer zustimmen",
        "card.approve-chat":
            "In diesem Gespräch zustimmen",
        "card.chosen":
            "{name}, in Verwendung",
        "card.decline":
            "Ablehnen",
        "card.download":
            "{name} laden{size}",
        "card.field.alarmMinutes":
            "Alarm",
        "card.field.amount":
            "Menge",
        "card.field.append-note.title":
            "Notiz",
        "card.field.body":
            "Text",
        "card.field.change-event.id":
            "Termin",
        "card.field.change-event.title":
            "Neuer Titel",
        "card.field.date":
            "Tag",
        "card.field.delete-event.title":
            "Termin",
        "card.field.due":
            "Fällig",
        "card.field.end":
            "Ende",
        "card.field.frequency":
            "Wie oft",
        "card.field.from":
            "Von",
        "card.field.location":
            "Ort",
        "card.field.name":
            "Gewohnheit",
        "card.field.notes":
            "Notizen",
        "card.field.priority":
            "Wichtigkeit",
        "card.field.query":
            "Suchwörter",
        "card.field.recurrence":
            "Wiederholung",
        "card.field.start":
            "Beginn",
        "card.field.title":
            "Titel",
        "card.field.to":
            "Bis",
        "card.more-decisions":
            "Weitere Möglichkeiten",
        "card.origin.title":
            "Woher dieser Wert kommt",
        "card.perform":
            "Jetzt ausführen",
        "card.retry":
            "Noch einmal: {name} noch einmal laden",
        "card.select":
            "{name} verwenden",
        "card.state.declined":
            "Abgelehnt",
        "card.state.done":
            "Erledigt",
        "card.state.failed":
            "Fehlgeschlagen",
        "card.state.not-carried-out":
            "Nicht ausgeführt",
        "card.state.proposed":
            "Vorgeschlagen",
        "card.state.undone":
            "Rückgängig gemacht",
        "card.state.unknown":
            "Unbekannt",
        "card.state.waiting":
            "Wartet auf Sie",
        "card.update":
            "Update auf {version} ({size})",
        "card.update.plain":
            "Update auf {version}",
        "chat.assistant":
            "Antwort",
        "chat.continue-locally":
            "Auf diesem Gerät fortsetzen",
        "chat.picture":
            "Bild {number}",
        "chat.thinking":
            "Denkt…",
        "chat.thoughts":
            "Gedanken",
        "chat.untitled":
            "Neues Gespräch",
        "chat.you":
            "Sie",
        "close":
            "Schließen",
        "composer.label":
            "Frage",
        "composer.send":
            "Senden",
        "composer.stop":
            "Anhalten",
        "download.bytes":
            "{done} von {total}",
        "download.cancel":
            "Download abbrechen",
        "download.discard":
            "Verwerfen",
        "download.left":
            "noch {time}",
        "download.model":
            "Modell laden",
        "ending.cannot-load-model":
            "Das Modell ließ sich nicht laden.",
        "ending.choose-model":
            "Modell wählen",
        "ending.cloud-key-unusable":
            "Der Schlüssel der Cloud ist nicht brauchbar.",
        "ending.cloud-missing":
            "Es ist keine Cloud eingerichtet.",
        "ending.cloud-off":
            "Die Cloud ist ausgeschaltet.",
        "ending.content-filter":
            "Die Cloud hält den Rest dieser Antwort zurück.",
        "ending.context-full":
            "Das Kontextfenster ist voll.",
        "ending.context-window-exceeded":
            "Die Frage ist länger als das Kontextfenster des Modells.",
        "ending.continue":
            "Fortsetzen",
        "ending.engine-died":
            "Das Modell endete unerwartet.",
        "ending.free-memory":
            "Speicher freigeben",
        "ending.interrupted":
            "Die Verbindung zur Cloud brach ab.",
        "ending.length":
            "Die Antwort hat ihre größte Länge erreicht.",
        "ending.model-not-found":
            "Das Modell ist nicht auf diesem Gerät.",
        "ending.model-not-loaded":
            "Es ist kein Modell dieses Geräts gewählt.",
        "ending.no-credits":
            "In diesem Monat ist kein Guthaben mehr übrig.",
        "ending.not-enough-memory":
            "Das Modell braucht mehr Speicher, als frei ist.",
        "ending.not-entitled":
            "Der Tarif enthält keine Cloud.",
        "ending.not-installed":
            "Das Modell ist nicht auf diesem Gerät.",
        "ending.open-settings":
            "Einstellungen öffnen",
        "ending.rate-limited":
            "Die Cloud nimmt gerade keine Fragen mehr an.",
        "ending.remote-model-missing":
            "Die Cloud hat dieses Modell nicht.",
        "ending.repeating":
            "Die Antwort begann sich zu wiederholen.",
        "ending.server-ended":
            "Die Antwort brach ab, als der Server endete.",
        "ending.stopped":
            "Diese Antwort wurde angehalten.",
        "ending.timed-out":
            "Die Zeit für die Antwort war um.",
        "ending.timeout":
            "Die Zeit für die Antwort war um.",
        "ending.unauthorised":
            "Die Cloud hat den Schlüssel abgelehnt.",
        "ending.unfinished":
            "Die Antwort brach ab, als der Server endete.",
        "ending.unreachable":
            "Die Cloud ist nicht erreichbar.",
        "habit.daily":
            "Täglich",
        "habit.days":
            "Letzte Tage von {name}",
        "habit.logged":
            "{name} ist eingetragen",
        "habit.streak.daily.one":
            "{n} Tag in Folge",
        "habit.streak.daily.other":
            "{n} Tage in Folge",
        "habit.streak.weekly.one":
            "{n} Woche in Folge",
        "habit.streak.weekly.other":
            "{n} Wochen in Folge",
        "habit.unlogged":
            "{name} ist nicht mehr eingetragen",
        "habit.weekly":
            "Wöchentlich",
        "manage.remove":
            "Entfernen",
        "manage.remove.text":
            "Macht {size} frei. Sie können es wieder laden.",
        "manage.remove.title":
            "{name} entfernen?",
        "manage.remove.yes":
            "Entfernen",
        "manage.rollback":
            "Zurück zu {version}",
        "manage.rollback.text":
            "{to} wird wieder aktiv. {from} wird zurückgehalten, bis Sie es wählen.",
        "manage.rollback.title":
            "{name} zurücksetzen?",
        "manage.rollback.yes":
            "Zurücksetzen",
        "models.none":
            "Noch keine Modelle. Fügen Sie ein Repository des Hubs oder die Adresse einer Datei hinzu.",
        "models.reading":
            "Die Liste der Modelle wird gelesen…",
        "models.section":
            "KI-Modell",
        "nav.settings":
            "Einstellungen",
        "phase.again":
            "Wird erneut geladen",
        "phase.chat.connect":
            "Verbinden",
        "phase.chat.decode":
            "Schreibt",
        "phase.chat.load":
            "Modell wird geladen",
        "phase.chat.prefill":
            "Liest {done} von {total} Tokens",
        "phase.chat.waiting":
            "Wartet",
        "phase.connecting":
            "Verbinden",
        "phase.downloading":
            "Download läuft",
        "phase.extracting":
            "Entpacken",
        "phase.hold.metered":
            "WLAN nötig",
        "phase.hold.offline":
            "Kein Netz",
        "phase.installing":
            "Installieren",
        "phase.paused":
            "Angehalten",
        "phase.preparing":
            "Vorbereiten",
        "phase.probing":
            "Testen",
        "phase.queued":
            "In der Warteschlange",
        "phase.retrying":
            "Neuer Versuch {attempt} von {attempts}",
        "phase.verifying":
            "Prüfen",
        "phase.waiting":
            "Wartet",
        "phase.waiting-for":
            "Wartet: {reason}",
        "priority.high":
            "Hoch",
        "priority.low":
            "Niedrig",
        "priority.medium":
            "Mittel",
        "priority.none":
            "Keine",
        "remark.already-logged":
            "{value} ist an diesem Tag schon eingetragen; die Mengen werden addiert.",
        "remark.cannot-be-undone":
            "Das lässt sich nicht rückgängig machen.",
        "remark.ignored":
            "Nicht beachtet: {value}.",
        "remark.more":
            "Es gibt mehr.",
        "remark.no-contacts":
            "Kein Kontakt passt.",
        "remark.no-events":
            "In dieser Zeit liegt kein Termin.",
        "remark.no-habits":
            "Keine Gewohnheit ist angelegt.",
        "remark.no-notes":
            "Keine Notiz passt.",
        "remark.no-reminders":
            "Keine Erinnerung ist offen.",
        "remark.no-search":
            "Es ist keine Websuche eingerichtet.",
        "remark.no-such-action":
            "Eine solche Aktion gibt es nicht.",
        "remark.not-offered":
            "Die Einstellungen bieten diese Aktion in diesem Gespräch nicht an.",
        "remark.outside":
            "Text von außen kann dazu geführt haben: {value}.",
        "remark.own-data":
            "In diesem Gespräch sind eigene Daten. Diese Wörter verlassen das Gerät.",
        "remark.past":
            "Die Zeit liegt in der Vergangenheit.",
        "remark.private-search":
            "Ein privates Gespräch sucht nicht im Netz.",
        "remark.rings":
            "Es klingelt auf diesem Gerät.",
        "remark.rings-elsewhere":
            "Es klingelt in einem Programm, das fällige Erinnerungen zeigt; dieses tut es nicht.",
        "remark.same-time":
            "Zur selben Zeit: {events}.",
        "remark.same-time.more":
            "Zur selben Zeit: {events} und {more} weitere.",
        "remark.series-changed":
            "Der Termin wiederholt sich; alle seine Zeiten werden geändert.",
        "remark.series-deleted":
            "Der Termin wiederholt sich; alle seine Zeiten werden gelöscht.",
        "remark.switched-off":
            "Die Einstellungen schalten diese Art von Aktion aus.",
        "repeat.DAILY":
            "Täglich",
        "repeat.MONTHLY":
            "Monatlich",
        "repeat.WEEKDAYS":
            "Werktags",
        "repeat.WEEKLY":
            "Wöchentlich",
        "repeat.YEARLY":
            "Jährlich",
        "repeat.count":
            "Anzahl",
        "repeat.days":
            "An diesen Tagen",
        "repeat.every.day":
            "Alle {count} Tage",
        "repeat.every.month":
            "Alle {count} Monate",
        "repeat.every.week":
            "Alle {count} Wochen",
        "repeat.every.year":
            "Alle {count} Jahre",
        "repeat.interval":
            "Abstand",
        "repeat.last-day":
            "Letzter Tag",
        "repeat.never":
            "Nie",
        "repeat.on":
            "am {days}",
        "repeat.ordinal":
            "Am {ordinal} {day} jedes Monats",
        "repeat.ordinal.-1":
            "letzten",
        "repeat.ordinal.-2":
            "vorletzten",
        "repeat.ordinal.1":
            "ersten",
        "repeat.ordinal.2":
            "zweiten",
        "repeat.ordinal.3":
            "dritten",
        "repeat.ordinal.4":
            "vierten",
        "repeat.ordinal.5":
            "fünften",
        "repeat.times.one":
            "{n}-mal",
        "repeat.times.other":
            "{n}-mal",
        "repeat.unit.day.one":
            "Tag",
        "repeat.unit.day.other":
            "Tage",
        "repeat.unit.month.one":
            "Monat",
        "repeat.unit.month.other":
            "Monate",
        "repeat.unit.week.one":
            "Woche",
        "repeat.unit.week.other":
            "Wochen",
        "repeat.unit.year.one":
            "Jahr",
        "repeat.unit.year.other":
            "Jahre",
        "repeat.until-day":
            "bis {day}",
        "retry":
            "Noch einmal",
        "route.allow-cloud":
            "Klicken, um die Cloud zu erlauben.",
        "route.cloud":
            "Cloud",
        "route.credits":
            "{left} von {of}",
        "route.force-local":
            "Klicken, um nur auf diesem Gerät zu antworten.",
        "route.imported":
            "Importiert",
        "route.local":
            "Auf diesem Gerät",
        "state.bundled":
            "Mit dem Programm geliefert",
        "state.deleting":
            "Wird gelöscht",
        "state.downloaded":
            "Vorhanden",
        "state.not-downloaded":
            "Nicht geladen",
        "state.update":
            "Update auf {version} verfügbar",
        "time.hours.one":
            "{n} Stunde",
        "time.hours.other":
            "{n} Stunden",
        "time.minutes.one":
            "{n} Minute",
        "time.minutes.other":
            "{n} Minuten",
        "time.seconds.one":
            "{n} Sekunde",
        "time.seconds.other":
            "{n} Sekunden",
        "undo":
            "Rückgängig",
    ]
}
