import Testing

@testable import HearthClassification

struct ScoresTests {
    private func ranked(
        _ numbers: [Float], top: Int = 10, _ output: ClassifierSettings.Output = .logits, temperature: Double = 1
    ) -> [(place: Int, confidence: Double)] {
        Scores(output: output, temperature: temperature).ranked(numbers[...], top: top)
    }

    @Test func confidencesAddUpToOne() {
        for numbers: [Float] in [[0, 0, 0], [1, 2, 3], [1e4, -1e4, 9e3], [-3e38, 3e38, 0], [700, 701, 702]] {
            let found = ranked(numbers)
            #expect(abs(found.reduce(0) { $0 + $1.confidence } - 1) < 1e-12)
            #expect(found.allSatisfy { $0.confidence.isFinite })
        }
    }

    @Test func theLikeliestComeFirst() {
        #expect(ranked([1, 5, 3, 5], top: 3).map(\.place) == [1, 3, 2])
        #expect(ranked([1, 5, 3], top: 1).map(\.place) == [1])
        #expect(ranked([1, 5, 3], top: 99).count == 3)
    }

    @Test func temperatureFlattens() {
        let sharp = ranked([2, 0], top: 1)[0].confidence
        let flat = ranked([2, 0], top: 1, temperature: 2)[0].confidence
        #expect(abs(sharp - 0.880797) < 1e-6)
        #expect(abs(flat - 0.731059) < 1e-6)
    }

    @Test func probabilitiesAreScaledToOne() {
        #expect(
            ranked([0.2, 0.6], .probabilities).map(\.confidence) == [0.75, 0.25].map { $0 }
                || abs(ranked([0.2, 0.6], .probabilities)[0].confidence - 0.75) < 1e-6)
        #expect(ranked([0, 0], .probabilities)[0].confidence.isNaN)
        #expect(ranked([-1, 2], .probabilities)[0].confidence.isNaN)
    }

    @Test(arguments: [[Float.nan, 1], [1, .infinity], [-.infinity, 1]]) func whatIsNoNumberIsNoConfidence(
        _ numbers: [Float]
    ) {
        #expect(ranked(numbers).allSatisfy { $0.confidence.isNaN })
        #expect(ranked(numbers).count == 2)
    }

    @Test func aSliceKeepsItsPlaces() {
        let numbers: [Float] = [9, 9, 0, 3]
        #expect(Scores(output: .logits, temperature: 1).ranked(numbers[2...], top: 1)[0].place == 1)
    }
}
