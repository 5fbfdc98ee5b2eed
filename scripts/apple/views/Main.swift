import Foundation
import SwiftUI

@testable import HearthUI

@main struct Main {
    @MainActor static func main() async {
        words()
        await ModelViews.run()
        await ChatViews.run()
        previews()
        print("views: \(Checks.count) checks, \(Checks.failures) failures")
        exit(Checks.failures == 0 ? 0 : 1)
    }

    /// Both languages have the same words with the same values.
    @MainActor private static func words() {
        expect(Set(Words.english.keys), Set(Words.german.keys))
        for (key, text) in Words.english {
            expect(values(of: Words.german[key] ?? ""), values(of: text))
        }
        let english = Words(Locale(identifier: "en_US")), german = Words(Locale(identifier: "de_CH"))
        expect(english("download.bytes", ["done": "{total}", "total": "9"]), "{total} of 9")
        expect(english("no such key"), "no such key")
        expect([0, 1, 59, 60, 3600, 1e300].map(english.seconds), [
            "1 second", "1 second", "59 seconds", "1 minute", "1 hour", "100 hours",
        ])
        expect(german.seconds(90), "2 Minuten")
        expect([0, 999, 1000, 1_949_999_999, .max].map(english.bytes), ["0 B", "999 B", "1.0 kB", "1.9 GB", "18446744.1 TB"])
        expect([-1, 0.999, 2, .nan].map(english.percent), ["0%", "99%", "100%", "0%"])
        expect(Words(Locale(identifier: "fr"))("cancel"), "Cancel")
    }

    private static func values(of text: String) -> Set<Substring> {
        Set(text.matches(of: /\{(\w+)\}/).map(\.output.1)).subtracting(["n"])
    }

    /// Every preview can be drawn.
    @MainActor private static func previews() {
        for locale in ["en", "de"] { expect(!ViewTree(HearthPreviews.previews, locale: locale).texts.isEmpty) }
    }
}
