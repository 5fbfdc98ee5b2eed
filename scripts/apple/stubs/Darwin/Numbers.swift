// Darwin's functions of numbers for Swift's types; those of Double come from the C library.

// developer.apple.com/documentation/foundation/exp(_:)
public func exp(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/exp2(_:)
public func exp2(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/log(_:)
public func log(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/log2(_:)
public func log2(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/log10(_:)
public func log10(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/sin(_:)
public func sin(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/cos(_:)
public func cos(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/tanh(_:)
public func tanh(_ x: Float) -> Float {}
// developer.apple.com/documentation/foundation/pow(_:_:)
public func pow(_ x: Float, _ y: Float) -> Float {}
// developer.apple.com/documentation/foundation/atan2(_:_:)
public func atan2(_ y: Float, _ x: Float) -> Float {}
