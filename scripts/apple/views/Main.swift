// Runs the tests of the views: scripts/apple/views.py.
import Testing

/// Runs the tests of the views: scripts/apple/views.py.
@main struct Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
