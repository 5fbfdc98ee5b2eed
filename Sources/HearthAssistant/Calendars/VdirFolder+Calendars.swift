import Foundation
import HearthBase

/// What the stores of events and reminders do with a folder in the same way.
extension VdirFolder<CalendarRecord> {
    /// A record that exists, with the bytes of its file.
    /// - Throws: `no-such-record`; `unusable-record` for one of several records of a file.
    mutating func known(_ id: String) throws -> (collection: String, record: CalendarRecord, before: Data) {
        try refresh()
        let (collection, before) = try onlyRecord(id)
        guard let record = find(id)?.record else { throw AssistantError.noRecord(id) }
        return (collection, record, before)
    }

    /// All records as one iCalendar file, those that cannot be read included.
    mutating func exported() throws -> Data {
        try refresh()
        return CalendarJoin.joined(try files.map { try contents(of: $0) } + keptFiles().map { $0.data })
    }

    /// The records with problems: files that cannot be read, records that an import has kept, and those that are not shown
    /// as another program wrote them.
    mutating func problems(of name: String, _ clock: CalendarClock) throws -> [RecordProblem] {
        try refresh()
        var problems = unreadableProblems()
        for file in try keptFiles() {
            let fault = Self.fault(in: file.data, of: name)
            problems.append(
                RecordProblem(
                    fault.code, id: fault.item?.0 ?? "", title: fault.item?.1 ?? "", fault.reason, file: file.place))
        }
        let check = CalendarCheck(clock: clock)
        for file in files {
            for record in file.records {
                for found in check.problems(of: record, name) {
                    problems.append(
                        RecordProblem(
                            found.code, id: record.id, title: record.item?.title ?? "", found.reason,
                            file: place(file.collection, file.name)))
                }
            }
        }
        return problems
    }

    /// Why a kept file cannot be read, and the UID and title of its first record.
    private static func fault(
        in data: Data, of name: String
    ) -> (code: RecordProblem.Code, reason: String, item: (String, String)?) {
        guard data.count <= ContentParser.record.bytes else {
            return (.largeRecord, "it has more than \(ContentParser.record.bytes) bytes", nil)
        }
        do {
            let components = try ContentParser().parse(data).components.flatMap(\.components).filter { $0.name == name }
            let items = components.map { CalendarItem($0) }
            let item = components.first.map { ($0.text("UID") ?? "", CalendarItem($0).title) }
            guard !items.isEmpty else { return (.unreadableFile, "it has no \(name)", nil) }
            if let fault = items.lazy.compactMap({ CalendarCheck.fault($0, of: name) }).first {
                return (fault.code, fault.reason, item)
            }
            return (.readable, "it can be read now; import its file", item)
        } catch {
            return (.unreadableFile, (error as? ContentParser.Failure)?.reason ?? "it is not of its format", nil)
        }
    }
}
