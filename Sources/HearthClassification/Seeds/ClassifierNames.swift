/// The classifier of seed 002, which wraps Core ML there and runs ONNX models here.
public typealias NomClassifier = ONNXClassifier
