import Foundation
import HearthWorkers

/// A worker of the tests: it does what its arguments name.
@main struct Probe {
    static func main() { exit(64) }
}
