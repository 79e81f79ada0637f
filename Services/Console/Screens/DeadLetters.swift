import Contracts
import Operations
import Storage

import struct Foundation.Date

/// What stages rejected: grouped by stage, reason, app and release, and one by one.
struct DeadLetterScreens: Sendable {
    struct Bar: Sendable {
        let x: Int
        let y: Double
        let height: Double
    }

    struct Group: Sendable {
        let stage: String
        let reason: String
        let app: String
        let build: String
        let count: String
        let open: String
        let isOpen: Bool
        let first: Moment
        let last: Moment
        let bars: [Bar]
        let trend: String
        let address: String
    }

    struct Page: Sendable {
        let groups: [Group]
        let isEmpty: Bool
        let days: Int
        let spike: String?
        /// Where there are more than were grouped.
        let cut: String?
    }

    struct ListedDeadLetter: Sendable {
        let id: String
        let message: String
        let rejected: Moment
        let source: String
        let uuid: String?
        let state: String
    }

    struct List: Sendable {
        let words: String
        let deadLetters: [ListedDeadLetter]
        let isEmpty: Bool
        let looked: String?
        let next: String?
        let form: ActionForm?
    }

    private static let days = 14
    private static let size = 50
    /// Of the newest dead letters, how many are grouped, and looked at by a page of a list.
    private static let look = 10_000

    let console: Console

    /// `GET /dead-letters`
    func groups(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let start = now.addingTimeInterval(Double(-Self.days) * 86_400)
        let groups = try await console.database.withConnection { connection in
            try await DeadLetterGroups(connection, look: Self.look).groups(
                Self.criteria(request.query), from: start, to: now, days: Self.days)
        }
        return console.page(
            "dead-letters", "Dead letters",
            Page(
                groups: groups.map { Self.group($0, now) }, isEmpty: groups.isEmpty, days: Self.days,
                spike: Self.spike(groups, now),
                cut: groups.reduce(0) { $0 + $1.count } < Self.look
                    ? nil : "Only the newest \(Figures.grouped(Int64(Self.look))) are counted here."),
            request)
    }

    /// `GET /dead-letters/list`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let criteria = Self.criteria(request.query)
        let after = request.text("after").flatMap(DeadLetterGroups.Place.init)
        let page = try await console.database.withConnection { connection in
            try await DeadLetterGroups(connection, look: Self.look).deadLetters(
                criteria, after: after, limit: Self.size)
        }
        return console.page(
            "dead-letter-list", "Dead letters",
            List(
                words: Self.words(criteria),
                deadLetters: page.deadLetters.map { deadLetter in
                    ListedDeadLetter(
                        id: deadLetter.id, message: deadLetter.message,
                        rejected: Moment(deadLetter.rejectedAt, now: now),
                        source: deadLetter.source ?? "unknown",
                        uuid: deadLetter.notificationUUID?.uuidString.lowercased(),
                        state: Self.state(deadLetter.settledBy))
                },
                isEmpty: page.deadLetters.isEmpty,
                looked: page.looked.map { looked in
                    let until = page.last.map { ", rejected until \(Moment($0.rejectedAt, now: now).text)" } ?? ""
                    return "These match of the \(Figures.grouped(Int64(looked))) dead letters looked at\(until)."
                },
                next: page.last.map { "/dead-letters/list" + Self.query(criteria, after: $0.text) },
                form: request.role < .operatorRole ? nil : Self.freezeForm(criteria, request)),
            request)
    }

    private static func freezeForm(_ criteria: DeadLetterGroups.Criteria, _ request: ConsoleRequest) -> ActionForm {
        var form = ActionForm(
            id: "freeze", title: "Dry run",
            explanation:
                "Freezes the list of these that are open now and counts them. Nothing is sent; the next page offers to "
                + "replay or dismiss exactly that list.",
            address: "/dead-letters/selections", button: "Dry run",
            hidden: fields(criteria).compactMap { name, value in value.map { (name, $0) } },
            command: command("replay", criteria) + " --dry-run", request)
        form.asksReason = false
        return form
    }

    static func criteria(_ fields: [String: String]) -> DeadLetterGroups.Criteria {
        func text(_ name: String) -> String? { fields[name].flatMap { $0.isEmpty ? nil : $0 } }
        return DeadLetterGroups.Criteria(
            stage: text("stage"), reason: text("reason"), environment: text("environment"), bundleId: text("app"),
            build: text("build"))
    }

    private static func fields(_ criteria: DeadLetterGroups.Criteria) -> [(String, String?)] {
        [
            ("stage", criteria.stage), ("reason", criteria.reason), ("environment", criteria.environment),
            ("app", criteria.bundleId), ("build", criteria.build),
        ]
    }

    static func query(_ criteria: DeadLetterGroups.Criteria, after: String? = nil) -> String {
        FormFields.query(fields(criteria) + [("after", after)])
    }

    static func words(_ criteria: DeadLetterGroups.Criteria) -> String {
        let words = [
            criteria.reason.map { "reason \($0)" }, criteria.stage.map { "rejected by \($0)" },
            criteria.bundleId.map { "app \($0)" }, criteria.environment, criteria.build.map { "release \($0)" },
        ].compactMap { $0 }
        return words.isEmpty ? "all" : words.joined(separator: ", ")
    }

    /// The command line has no filter by app or release: it selects at least these.
    static func command(_ verb: String, _ criteria: DeadLetterGroups.Criteria) -> String {
        var command = "storekeeper dead-letters \(verb) --all"
        if let stage = criteria.stage { command += " --stage \(shellWord(stage))" }
        if let reason = criteria.reason { command += " --reason \(shellWord(reason))" }
        return command
    }

    private static func group(_ group: DeadLetterGroups.Group, _ now: Date) -> Group {
        let most = Double(max(1, group.days.max() ?? 1))
        return Group(
            stage: group.criteria.stage ?? "", reason: group.criteria.reason ?? "",
            app: [group.criteria.bundleId, group.criteria.environment].compactMap { $0 }.joined(separator: ", "),
            build: group.criteria.build ?? "unknown", count: Figures.grouped(group.count),
            open: Figures.grouped(group.open), isOpen: group.open > 0, first: Moment(group.firstAt, now: now),
            last: Moment(group.lastAt, now: now),
            bars: group.days.enumerated().map { index, count in
                let height = count == 0 ? 0.5 : max(2, Double(count) / most * 22)
                return Bar(x: index * 8, y: ((24 - height) * 10).rounded() / 10, height: (height * 10).rounded() / 10)
            },
            trend: "by day, the latest last: \(group.days.map { "\($0)" }.joined(separator: ", "))",
            address: "/dead-letters/list" + query(group.criteria))
    }

    /// The release with which the reason began that grew most within a day.
    static func spike(_ groups: [DeadLetterGroups.Group], _ now: Date) -> String? {
        let byReason = Dictionary(grouping: groups) { $0.criteria.reason ?? "" }
        let most = byReason.max { $0.value.reduce(0) { $0 + $1.open } < $1.value.reduce(0) { $0 + $1.open } }
        guard let (reason, found) = most, found.contains(where: { $0.open > 0 }),
            let first = found.min(by: { $0.firstAt < $1.firstAt })
        else { return nil }
        let begun = Moment(first.firstAt, now: now)
        return
            "Most open dead letters of the last \(days) days have the reason \(reason). The first that is counted here was rejected by release "
            + "\(first.criteria.build ?? "unknown") on \(begun.text), \(begun.distance)."
    }

    private static func state(_ action: String?) -> String {
        switch action {
        case DeadLetterActions.replayed: "replayed"
        case DeadLetterActions.dismissed: "dismissed"
        case nil: "open"
        default: action ?? ""
        }
    }
}

extension DeadLetterGroups.Place {
    /// In an address: microseconds since 1970, partition and offset.
    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, let time = Int64(parts[0]), let partition = Int32(parts[1]),
            let offset = Int64(parts[2]),
            (0...Int64(1) << 52).contains(time)
        else { return nil }
        self.init(
            rejectedAt: Date(timeIntervalSince1970: Double(time) / 1_000_000), partition: partition, offset: offset)
    }

    var text: String { "\(Int64((rejectedAt.timeIntervalSince1970 * 1_000_000).rounded()))/\(partition)/\(offset)" }
}
