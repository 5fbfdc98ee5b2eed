import CVision
import HearthBase

/// A compiled model of OpenVINO, and its computations: one for each call at a time.
final class Network: @unchecked Sendable {
    /// The shape of an input or output; `nil` for a dimension that a request chooses.
    struct Shape: Sendable, Hashable {
        var dimensions: [Int?]
        var isFloat: Bool

        init(_ shape: hearth_network_shape) {
            let all = withUnsafeBytes(of: shape.dimensions) { Array($0.bindMemory(to: Int64.self)) }
            dimensions = all.prefix(shape.rank).map { $0 < 0 ? nil : Int($0) }
            isFloat = shape.is_float
        }
    }

    let inputs: Int
    let outputs: Int
    let input: Shape
    let output: Shape
    /// Whether the model takes any number of pictures; it is compiled for the number that was asked for.
    let hasFreeBatch: Bool

    // Freed after the last computation. OpenVINO makes computations of a model on any thread.
    private let raw: OpaquePointer
    private let idle = Locked<[Computation]>([])

    /// Compiles a model (`hearth_network_new`). Blocks.
    /// - Parameters:
    ///   - batch: the pictures of one computation, unless the model has a number of its own.
    ///   - streams: the computations that run side by side; they share the threads.
    init(
        _ model: [UInt8], batch: Int, streams: Int, threads: Int, library: NetworkLibrary
    ) throws(VisionFailure) {
        var facts = hearth_network_facts()
        raw = try VisionFailure.check {
            hearth_network_new(
                library.raw, model, model.count, batch, UInt32(clamping: streams), UInt32(clamping: threads), &facts, $0
            )
        }
        (inputs, outputs, hasFreeBatch) = (facts.inputs, facts.outputs, facts.has_free_batch)
        (input, output) = (Shape(facts.input), Shape(facts.output))
    }

    deinit {
        // The computations are freed first, outside of the lock.
        do {
            let computations = idle.withLock { idle in
                defer { idle = [] }
                return idle
            }
            withExtendedLifetime(computations) {}
        }
        hearth_network_free(raw)
    }

    /// Computes the output of an input. Blocks.
    /// - Parameter capacity: the most numbers of the output that are returned.
    /// - Returns: the numbers, and how many the output has.
    func run(
        _ input: inout [Float], shape: [Int64], capacity: Int
    ) throws(VisionFailure) -> (numbers: [Float], count: Int) {
        let computation: Computation
        if let free = idle.withLock({ $0.popLast() }) { computation = free } else { computation = try Computation(raw) }
        // After a failure its state is unknown, and another is made.
        let result = try computation.run(&input, shape, capacity)
        idle.withLock { $0.append(computation) }
        return result
    }
}

/// One computation with buffers of its own; used by one thread at a time.
private final class Computation: @unchecked Sendable {
    private let raw: OpaquePointer

    init(_ network: OpaquePointer) throws(VisionFailure) {
        raw = try VisionFailure.check { hearth_computation_new(network, $0) }
    }

    deinit { hearth_computation_free(raw) }

    func run(
        _ input: inout [Float], _ shape: [Int64], _ capacity: Int
    ) throws(VisionFailure) -> (numbers: [Float], count: Int) {
        var output = [Float](repeating: 0, count: capacity)
        var count = 0
        try VisionFailure.check {
            hearth_computation_run(raw, shape, shape.count, &input, &output, capacity, &count, $0) ? () : nil
        }
        return (output, count)
    }
}
