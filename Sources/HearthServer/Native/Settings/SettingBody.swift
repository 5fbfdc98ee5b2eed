import Hearth

extension SettingType: SchemaWord {}

struct SettingsBody: Codable, Sendable, Hashable {
    var settings: [SettingRow]
    var event: String
}
