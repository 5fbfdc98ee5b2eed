import Foundation

@testable import HearthBase
@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// A pattern, a line feed, and a text in which the pattern is searched.
func fuzzGlob(_ data: Data) {
    let parts = data.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first else { return }
    let pattern = String(decoding: first.prefix(Canary.maximumPatternBytes), as: UTF8.self)
    let text = parts.count > 1 ? String(decoding: parts[1].prefix(2048), as: UTF8.self) : ""
    let canary = Canary(prompt: "?", pattern: pattern)
    if canary.isAnswered(by: text) {
        precondition(canary.isAnswered(by: "x" + text + "x"), "found in a text and not in a longer one")
    }
}

/// What a hub says of a repository, NUL, a page of its files, NUL, the file or pattern that is wanted of them.
func fuzzHub(_ data: Data) {
    let parts = data.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    let wanted = parts.count > 2 ? String(decoding: parts[2], as: UTF8.self) : ""
    let plain = HubReference(organization: "o", repository: "m")
    let picking = HubReference(organization: "o", repository: "m", file: wanted)
    guard let reference = picking ?? plain, let first = parts.first else { return }
    _ = LinkHeader.target("next", in: wanted)
    guard let repository = typed({ try HubRepository(answer: Data(first), of: reference) }) else { return }
    precondition(HubNames.version(ofCommit: repository.commit) != nil)
    requirePlain(repository.path)
    guard parts.count > 1, let files = typed({ try HubFile.page(Data(parts[1]), of: reference) }) else { return }
    let snapshot = HubSnapshot(reference: reference, repository: repository, files: files)
    guard let releases = typed({ try snapshot.releases() }) else { return }
    var seen: Set<ReleaseIdentity> = []
    for release in releases {
        precondition(seen.insert(release.identity).inserted, "\(release.identity) came twice")
        let identity = release.identity
        precondition(ReleaseIdentity(family: identity.family, folderName: identity.folderName) == identity)
        var names = DistinctPaths()
        for file in release.files {
            requireSafePath("\(file.name)")
            precondition(names.insert(file.name) == nil, "two names for one file came through")
            precondition(file.digest != nil || file.gitBlob != nil, "a file that nothing vouches for")
            precondition((file.size.exact ?? .max) <= HubFile.maximumSize)
        }
    }
}
