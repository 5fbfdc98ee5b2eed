import Foundation
import HearthPublishing

// Publishes models to a bucket: Publish ENDPOINT BUCKET FILE…, with the key in AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY.
let environment = ProcessInfo.processInfo.environment
let words = CommandLine.arguments
let publisher = Publisher(
    to: try .bucket(
        words[2], endpoint: URL(string: words[1]) ?? URL(filePath: words[1]),
        accessKey: environment["AWS_ACCESS_KEY_ID"] ?? "", secretKey: environment["AWS_SECRET_ACCESS_KEY"] ?? ""))
var request = PublishRequest(files: words.dropFirst(3).map { URL(filePath: $0) })
request.isCurrent = true
let report = try await publisher.publish(request)
for item in report.items { print(item.identity, item.isNew ? "published" : "unchanged") }
