import Foundation
import HearthBase

/// Chooses the quantization of a model for a device. Pure.
///
/// ```
/// Q4_K_M to Q8_0: the largest with room in memory, and fast enough     never above Q8_0: twice the bytes, no better
///   none is fast enough ──> the smallest of them that has room
///   none has room ──> 4 bits: the largest with room
///     none ──> below 4 bits, for models of 7 billion parameters or more: the largest with room, called coarse
/// nothing but 16 bits and more ──> the smallest with room
/// nothing has room ──> no choice
/// ```
package struct QuantizationRule: Sendable, Hashable {
    /// The bytes of memory that models may use.
    package var memory: UInt64
    /// The bytes that the processor reads from memory in a second; `nil` disregards speed.
    package var bandwidth: Double?
    /// The part of the weights that is read for a token; less than 1 in a mixture of experts.
    package var activeShare: Double

    /// The fewest tokens a second with which people like to talk.
    package static let talkingSpeed = 5.0
    /// The parameters from which a model bears fewer than four bits.
    package static let coarseParameters = 7e9

    /// Memberwise.
    package init(memory: UInt64, bandwidth: Double? = nil, activeShare: Double = 1) {
        self.memory = memory
        self.bandwidth = bandwidth
        self.activeShare = activeShare
    }

    /// A build of a model.
    package struct Candidate: Sendable, Hashable {
        package var label: QuantizationLabel?
        /// The bytes of the weights.
        package var weights: UInt64
        /// The bytes of other files that are loaded with them.
        package var companions: UInt64
        /// The number of parameters; estimated from the size if `nil`.
        package var parameters: Double?

        /// Memberwise.
        package init(label: QuantizationLabel?, weights: UInt64, companions: UInt64 = 0, parameters: Double? = nil) {
            self.label = label
            self.weights = weights
            self.companions = companions
            self.parameters = parameters
        }

        var count: Double { parameters ?? Double(weights) * 8 / (label?.bitsPerWeight ?? 16) }
        var total: UInt64 { [weights, companions].saturatedSum }
    }

    /// The result: the position of the candidate.
    package struct Choice: Sendable, Hashable {
        package var index: Int
        /// Whether the weights have fewer than four bits.
        package var isCoarse = false
    }

    /// Whether a build leaves room for the context of 8,192 tokens, and a quarter of the memory for everything else.
    package func hasRoom(_ candidate: Candidate) -> Bool {
        // The cache of present models takes about 450 MB at a billion parameters, and grows with the root of their number.
        let cache = 450e6 * (candidate.count / 1e9).squareRoot()
        return Double(candidate.total) + cache <= Double(memory) * 0.75
            && Release.requiredMemory(of: candidate.total) <= memory
    }

    /// The tokens that a build answers in a second, about; `nil` if the speed of the memory is unknown.
    package func tokensPerSecond(_ candidate: Candidate) -> Double? {
        bandwidth.map { $0 / max(1, Double(candidate.weights) * activeShare) }
    }

    private func isFast(_ candidate: Candidate) -> Bool {
        tokensPerSecond(candidate).map { $0 >= Self.talkingSpeed } ?? true
    }

    /// The best candidate; `nil` if none has room, or none names its quantization.
    package func choose(among candidates: [Candidate]) -> Choice? {
        var grades = Dictionary(
            grouping: candidates.indices.filter { hasRoom(candidates[$0]) && isAcceptable(candidates[$0]) }
        ) { candidates[$0].label.map(Grade.init) }
        for grade in grades.keys {
            grades[grade]?.sort { (candidates[$0].weights, $0) < (candidates[$1].weights, $1) }
        }
        if let fine = grades[.fine], let smallest = fine.first {
            return Choice(index: fine.last { isFast(candidates[$0]) } ?? smallest)
        }
        if let largest = grades[.four]?.last { return Choice(index: largest) }
        if let largest = grades[.coarse]?.last { return Choice(index: largest, isCoarse: true) }
        return grades[.whole]?.first.map { Choice(index: $0) }
    }

    private enum Grade: Sendable, Hashable {
        /// Q4_K_M to Q8_0.
        case fine
        /// Other builds of four bits.
        case four
        /// Fewer than four bits.
        case coarse
        /// More than Q8_0.
        case whole

        init(_ label: QuantizationLabel) {
            self =
                switch label.bitsPerWeight {
                case ..<4.25: .coarse
                case ..<4.8: .four
                case ...8.5: .fine
                default: .whole
                }
        }
    }

    /// Whether a build may be chosen: engines load it, and it is not too coarse for the size of the model.
    private func isAcceptable(_ candidate: Candidate) -> Bool {
        guard let label = candidate.label else { return true }
        return !label.isRetired && (Grade(label) != .coarse || candidate.count >= Self.coarseParameters)
    }

    /// The releases that may be chosen; all of them if none may.
    func acceptable(_ releases: [Release]) -> [Release] {
        let good = releases.filter { isAcceptable(Candidate($0)) }
        return good.isEmpty ? releases : good
    }

    /// The offer of a hub's repository, by its releases in ascending order of size; `nil` leaves the choice to others.
    func offer(among releases: [Release], _ variants: [Variant]) -> Offer? {
        guard let choice = choose(among: releases.map { Candidate($0) }) else { return nil }
        return Offer(
            release: releases[choice.index],
            reason: choice.isCoarse ? .coarse(among: variants) : .suited(among: variants))
    }
}

extension QuantizationRule.Candidate {
    /// A release of one of several quantizations.
    package init(_ release: Release) {
        let weights = release.modelSize
        self.init(
            label: release.quantization, weights: weights,
            companions: release.totalSize - min(release.totalSize, weights))
    }
}
