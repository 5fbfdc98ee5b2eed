// Runs the tests of the views: scripts/apple/views.py.
import Testing

/// Runs the tests of the views: scripts/apple/views.sh.
@main struct Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
