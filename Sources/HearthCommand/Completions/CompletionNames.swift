import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthStore

/// The names on this device, read from its files alone: no request, no repair, no lock. What cannot be read offers no name,
/// since a shell has no place for a message.
struct CompletionNames: CompletionLookup {
    let installed: [String]
    let offered: [String]
    private let configuration: Configuration

    init(_ context: CommandContext) async {
        // A completion offers what can be read, and reports nothing: the command that follows reports the errors.
        configuration = (try? await context.configuration) ?? Configuration()
        guard let home = try? context.home else {
            (installed, offered) = ([], [])
            return
        }
        let origins = (try? configuration.origins(environment: context.environment)) ?? []
        (installed, offered) = await blocking { (Self.installed(home), Self.offered(home, origins)) }
    }

    private static func installed(_ home: Path) -> [String] {
        let names = (try? LocalFileSystem().contents(of: HomeLayout(home: home).models)) ?? []
        return names.compactMap { Family($0)?.name }.sorted()
    }

    /// The families of the lists that origins gave last, and of lists on this device.
    private static func offered(_ home: Path, _ origins: [Origin]) -> [String] {
        let files = LocalFileSystem()
        let cache = CatalogCache(folder: HomeLayout(home: home).catalogs, fileSystem: files)
        var families: Set<String> = []
        for origin in origins {
            let url = origin.manifestURL
            let data =
                url.isFileURL
                ? try? files.contents(ofFile: Path(url.path), limit: Catalog.maximumManifestSize)
                : try? cache.read(origin)?.data
            guard let data else { continue }
            let catalog = try? Catalog(manifest: data, url: url, familyHint: Family(origin.name.lowercased()))
            families.formUnion(catalog?.families.map(\.name) ?? [])
        }
        return families.sorted()
    }

    /// At most three names similar to that of a missing model, installed ones first; none if it is one of them.
    func near(_ family: String) -> [String] {
        guard !(installed + offered).contains(family) else { return [] }
        let offered = offered.filter { !installed.contains($0) }
        return Array((NearNames.words(family, among: installed) + NearNames.words(family, among: offered)).prefix(3))
    }

    var settings: [(key: String, meaning: String)] { configuration.rows(patterns: false).map { ($0.key, $0.summary) } }

    func values(ofSetting key: String) -> [String] {
        guard let row = try? Setting.named(key) else { return [] }
        return row.choices ?? (row.type == .boolean ? ["true", "false"] : [])
    }
}
