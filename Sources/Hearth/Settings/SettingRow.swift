import Foundation
import HearthBase
import HearthHTTP

/// The numbers that a setting may have.
package struct SettingRange: Codable, Sendable, Hashable {
    package let minimum: Double
    package let maximum: Double
}

/// A setting with its value, in listings and on the wire.
package struct SettingRow: Codable, Sendable, Hashable {
    package let key: String
    /// The text of the value; `nil` if the setting is not set.
    package var value: String?
    /// The text of the value that holds while the setting is not set; `nil` if there is none.
    package let `default`: String?
    package let type: SettingType
    package let unit: String?
    package let range: SettingRange?
    package let choices: [String]?
    package let summary: String
    package let reopensModels: Bool

    /// The row of a configuration.
    package init(_ setting: Setting, in configuration: Configuration) {
        key = setting.key
        value = configuration.setText(setting)
        `default` = setting.implied(configuration) ?? setting.defaultText
        type = setting.type
        unit = setting.unit
        range = setting.range.map { SettingRange(minimum: $0.lowerBound, maximum: $0.upperBound) }
        choices = setting.choices
        summary = setting.summary
        reopensModels = setting.reopensModels
    }

    /// The row without what may be secret in an address: user, password and query.
    package var withoutSecrets: SettingRow {
        guard type == .address, let value else { return self }
        var row = self
        row.value = URL(address: value)?.withoutSecrets?.absoluteString ?? ""
        return row
    }
}

extension Configuration {
    /// All settings in the order of the table, whether they are set or not.
    /// - Parameter patterns: whether families with chosen names, such as `origins.NAME`, have a row too.
    package func rows(patterns: Bool = false) -> [SettingRow] {
        Setting.rows(of: self, patterns: patterns).map { SettingRow($0, in: self) }
    }

    /// Whether settings differ for which the models are opened anew.
    package func reopensModels(otherThan other: Configuration) -> Bool {
        let rows = [self, other].map { settings in
            Dictionary(
                uniqueKeysWithValues: Setting.rows(of: settings).filter(\.reopensModels).map {
                    ($0.key, $0.read(settings))
                })
        }
        return rows[0] != rows[1]
    }
}
