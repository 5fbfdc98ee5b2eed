import HearthBase

/// Finds the sources of tensors, and checks their shapes and types.
struct TensorReader: Sendable {
    let sources: SourceTensors
    let quantization: Quantization?
    let target: ImportTarget
    /// The names that have been found.
    private(set) var used: Set<String> = []

    init(_ sources: SourceTensors, _ quantization: Quantization?, target: ImportTarget) {
        (self.sources, self.quantization, self.target) = (sources, quantization, target)
    }

    /// Plans a list of numbers as 32-bit floats.
    /// - Parameter shift: a number that is added to each.
    mutating func vector(
        _ source: String, as output: String, count: Int, head: Int = 0, shift: Float = 0
    ) throws(ImportError) -> PlannedTensor {
        let weights = try find(source)
        try check(weights, shape: [count])
        // The values are rows of one number, so that those of heads can be reordered.
        return PlannedTensor(
            output: GGUFWriter.Tensor(name: output, shape: [UInt64(count)], storage: .f32),
            conversion: .floats(try number(weights), shift: shift), rows: count, columns: 1, head: head,
            weights: place(weights))
    }

    /// Plans a matrix of floats or quantized groups, by the form of its source.
    mutating func matrix(
        _ source: String, as output: String, rows: Int, columns: Int, head: Int = 0
    ) throws(ImportError) -> PlannedTensor {
        let weights = try find(source)
        if source.hasSuffix(".weight"), sources["\(source.dropLast(".weight".count)).scales"] != nil {
            return try groups(weights, source, output, rows: rows, columns: columns, head: head)
        }
        try check(weights, shape: [rows, columns])
        let number = try number(weights)
        let isRounded = target == .q8_0 && columns.isMultiple(of: 32)
        return PlannedTensor(
            output: GGUFWriter.Tensor(
                name: output, shape: [UInt64(columns), UInt64(rows)], storage: isRounded ? .q8_0 : number.storage),
            conversion: isRounded ? .round(number) : .copy(byteCount: number.byteCount), rows: rows, columns: columns,
            head: head, weights: place(weights))
    }

    /// Plans a matrix of floats as 32-bit floats.
    mutating func floats(
        _ source: String, as output: String, rows: Int, columns: Int
    ) throws(ImportError) -> PlannedTensor {
        let weights = try find(source)
        try check(weights, shape: [rows, columns])
        return PlannedTensor(
            output: GGUFWriter.Tensor(name: output, shape: [UInt64(columns), UInt64(rows)], storage: .f32),
            conversion: .floats(try number(weights), shift: 0), rows: rows, columns: columns, weights: place(weights))
    }

    /// Plans the kernel of a convolution over the patches of pictures, or one frame of it, as 32-bit floats.
    mutating func kernel(
        _ source: String, as output: String, rows: Int, _ patch: Conversion.Patch
    ) throws(ImportError) -> PlannedTensor {
        let weights = try find(source)
        let frames = patch.frames > 1 ? [patch.frames] : []
        let (size, channels) = ([patch.size, patch.size], [patch.channels])
        // PyTorch has the channels first, MLX last.
        let last = [rows] + frames + size + channels
        let isLast = weights.tensor.shape == last.map(UInt64.init)
        if !isLast { try check(weights, shape: [rows] + channels + frames + size) }
        var patch = patch
        patch.channelsAreLast = isLast
        let shape = [patch.size, patch.size, patch.channels, rows].map(UInt64.init)
        return PlannedTensor(
            output: GGUFWriter.Tensor(name: output, shape: shape, storage: .f32),
            conversion: .kernel(try number(weights), patch), rows: rows,
            columns: patch.channels * patch.size * patch.size, weights: place(weights))
    }

    /// Plans a matrix of quantized groups. Its form follows from its shapes; an entry of the configuration must agree.
    private mutating func groups(
        _ weights: SourceTensors.Tensor, _ source: String, _ output: String, rows: Int, columns: Int, head: Int
    ) throws(ImportError) -> PlannedTensor {
        let base = String(source.dropLast(".weight".count))
        let scales = try find("\(base).scales")
        let form = try form(base, weights, scales, columns: columns)
        guard columns.isMultiple(of: form.groupSize) else {
            throw .damaged(
                "its rows are not whole groups", file: weights.file, field: weights.tensor.name,
                expected: "a multiple of \(form.groupSize)", found: "\(columns)")
        }
        try check(weights, shape: [rows, columns / 32 * form.bits], .uint32)
        try check(scales, shape: [rows, columns / form.groupSize], form.mode == .mxfp4 ? .uint8 : nil)
        var biases: SourceTensors.Tensor?
        let conversion: Conversion
        switch form.mode {
        case .mxfp4: conversion = .mxfp4
        case .affine:
            let found = try find("\(base).biases")
            try check(found, shape: [rows, columns / form.groupSize], scales.tensor.type)
            biases = found
            conversion = .affine(
                bits: form.bits, groupSize: form.groupSize, scales: try number(scales), storage: form.storage)
        }
        return PlannedTensor(
            output: GGUFWriter.Tensor(name: output, shape: [UInt64(columns), UInt64(rows)], storage: form.storage),
            conversion: conversion, rows: rows, columns: columns, head: head, weights: place(weights),
            scales: place(scales), biases: biases.map(place))
    }

    private func form(
        _ base: String, _ weights: SourceTensors.Tensor, _ scales: SourceTensors.Tensor, columns: Int
    ) throws(ImportError) -> Quantization.Form {
        let name = String(weights.tensor.name.dropLast(".weight".count))
        if let entry = quantization?.entries[name] ?? quantization?.entries[base] { return entry }
        guard let quantization else {
            throw .damaged(
                "it has quantized tensors, and the configuration declares none", file: weights.file,
                field: weights.tensor.name)
        }
        // Without an entry of its own a tensor can still differ from the others: its shapes show how.
        guard weights.tensor.shape.count == 2, scales.tensor.shape.count == 2, scales.tensor.shape[1] > 0,
            UInt64(columns) >= scales.tensor.shape[1], weights.tensor.shape[1] <= UInt64(columns)
        else { return quantization.form }
        let form = Quantization.Form(
            mode: scales.tensor.type == .uint8 ? .mxfp4 : .affine,
            bits: Int(weights.tensor.shape[1]) * 32 / columns, groupSize: columns / Int(scales.tensor.shape[1]))
        if let problem = form.problem {
            throw .incompatible(
                "weights quantized with \(problem.what) cannot be imported", file: weights.file,
                field: weights.tensor.name, expected: problem.expected)
        }
        return form
    }

    private mutating func find(_ name: String) throws(ImportError) -> SourceTensors.Tensor {
        guard let tensor = sources[name] else {
            throw ImportError(
                .damaged, "the weights lack the tensor \(name.quoted)",
                context: ErrorContext(field: name, remedy: "Fetch the whole folder."))
        }
        used.insert(name)
        return tensor
    }

    private func check(
        _ found: SourceTensors.Tensor, shape: [Int], _ type: SafetensorsType? = nil
    ) throws(ImportError) {
        let tensor = found.tensor
        guard tensor.shape == shape.map(UInt64.init), type == nil || type == tensor.type else {
            func text(_ type: SafetensorsType?, _ shape: [some Any]) -> String {
                "\(type.map { "\($0.name) " } ?? "")\(shape)"
            }
            throw .damaged(
                "a tensor has another shape or type than the configuration says", file: found.file, field: tensor.name,
                expected: text(type, shape), found: text(type == nil ? nil : tensor.type, tensor.shape))
        }
    }

    private func number(_ found: SourceTensors.Tensor) throws(ImportError) -> Conversion.Number {
        guard let number = Conversion.Number(found.tensor.type) else {
            throw .incompatible(
                "tensors of type \(found.tensor.type.name) cannot be imported", file: found.file,
                field: found.tensor.name, expected: "F32, F16 or BF16", found: found.tensor.type.name)
        }
        return number
    }

    private func place(_ tensor: SourceTensors.Tensor) -> PlannedTensor.Place {
        PlannedTensor.Place(shard: tensor.shard, offset: tensor.tensor.range.lowerBound, name: tensor.tensor.name)
    }
}
