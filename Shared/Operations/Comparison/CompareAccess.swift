import Contracts
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Compares what another system's file says of customers with their access here, as it is stored, at the moment of the file.
package struct CompareAccess: Sendable {
    package static let name = "compare"
    /// Customers of one statement.
    package static let portion = 1000

    /// The result of comparing some customers.
    package struct Batch: Sendable {
        package var counts = Comparison.Counts()
        /// The accounts of the customers.
        var accounts: [UUID] = []
        /// Entitlements of the file that the app has not defined here; they are compared by product.
        package var undefined: Set<String> = []
    }

    package let comparison: Comparison
    private let app: CoverageStore.App
    private let definitions: EntitlementDefinitions
    private let defined: Set<String>
    private let namesOfProducts: [String: [String]]
    private let isNamed: @Sendable (String) -> Bool
    private let asksApple: (@Sendable (String) async -> Bool?)?

    /// - Parameters:
    ///   - comparison: with the moment of the file.
    ///   - definitions: of entitlements.
    ///   - isNamed: whether the file names a purchase, by its original transaction id.
    ///   - asksApple: whether Apple has a purchase; nil where it could not be asked.
    package init(
        _ comparison: Comparison, definitions: EntitlementDefinitions,
        isNamed: @escaping @Sendable (String) -> Bool, asksApple: (@Sendable (String) async -> Bool?)? = nil
    ) {
        self.comparison = comparison
        app = CoverageStore.App(comparison.environment, comparison.bundleId)
        self.definitions = definitions
        let own = definitions.all(of: app.bundleId, in: app.environment)
        defined = Set(own.map(\.name))
        namesOfProducts = own.reduce(into: [:]) { names, definition in
            for product in definition.productIds { names[product, default: []].append(definition.name) }
        }
        self.isNamed = isNamed
        self.asksApple = asksApple
    }

    /// Compares all customers of a file, and those with access here whom it does not name.
    /// - Parameters:
    ///   - connections: each is used for some customers at a time.
    ///   - next: the next customers, at most ``portion``; nil where there are no more.
    ///   - progress: is told the customers of the file that were compared, and of the accounts here that it does not name.
    /// - Returns: what was counted, and the names that are not defined.
    package func compareAll(
        on connections: [PostgresConnection], next: () throws -> [IncumbentCustomer]?,
        progress: (_ customers: Int, _ accounts: Int) -> Void
    ) async throws -> Batch {
        var total = Batch()
        var seen: Set<UUID> = []
        try await inParallel(
            connections, next: next, compare: { customers, connection in try await compare(customers, on: connection) }
        ) { batch in
            total.counts.add(batch.counts)
            total.undefined.formUnion(batch.undefined)
            seen.formUnion(batch.accounts)
            progress(total.counts.customers, 0)
        }
        var last: UUID?
        var walked = 0
        let store = ComparisonStore(connections[0])
        while true {
            let page = try await store.holders(app, after: last, limit: Self.portion * 10)
            guard let end = page.last else { break }
            last = end
            walked += page.count
            var rest = page.filter { !seen.contains($0) }[...]
            try await inParallel(
                connections,
                next: {
                    defer { rest = rest.dropFirst(Self.portion) }
                    return rest.isEmpty ? nil : Array(rest.prefix(Self.portion))
                }, compare: { accounts, connection in try await compare(accounts: accounts, on: connection) }
            ) { batch in total.counts.add(batch.counts) }
            progress(total.counts.customers, walked)
        }
        return total
    }

    private func inParallel<Portion: Sendable>(
        _ connections: [PostgresConnection], next: () throws -> Portion?,
        compare: @escaping @Sendable (Portion, PostgresConnection) async throws -> Batch, done: (Batch) -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: (PostgresConnection, Batch).self) { group in
            var idle = connections
            while true {
                while let connection = idle.last, let portion = try next() {
                    idle.removeLast()
                    group.addTask { (connection, try await compare(portion, connection)) }
                }
                guard let (connection, batch) = try await group.next() else { return }
                idle.append(connection)
                done(batch)
            }
        }
    }

    /// Compares customers of the file, and stores the differences.
    func compare(_ customers: [IncumbentCustomer], on connection: PostgresConnection) async throws -> Batch {
        let store = ComparisonStore(connection)
        let ids = customers.flatMap { [$0.id] + $0.aliases }
        let known = try await store.accounts(of: ids, app)
        let accounts = customers.map { customer in
            let ids = [customer.id] + customer.aliases
            // An app may use its own ids as tokens.
            return ids.lazy.compactMap { known[$0.exact] }.first ?? ids.lazy.compactMap { UUID(uuidString: $0) }.first
        }
        let lines = try await lines(of: accounts.compactMap(\.self), on: connection)
        let erased = try await store.erased(accounts.compactMap(\.self), app)
        var batch = Batch()
        var pairs: [ComparedCustomer] = []
        for (customer, account) in zip(customers, accounts) {
            // A difference would name again who asked to be forgotten.
            if let account, erased.contains(account) {
                batch.counts.skipped["erased", default: 0] += customer.records.count
            } else {
                pairs.append(ComparedCustomer(customer, account, account.flatMap { lines[$0] } ?? []))
            }
        }
        batch.accounts = pairs.compactMap(\.account)
        batch.counts.customers = pairs.count
        try await compare(pairs, on: connection, &batch)
        return batch
    }

    /// Compares accounts that the file does not name, and stores the differences.
    func compare(accounts: [UUID], on connection: PostgresConnection) async throws -> Batch {
        let store = ComparisonStore(connection)
        let lines = try await lines(of: accounts, on: connection)
        let names = try await store.names(of: accounts, app)
        var batch = Batch()
        try await compare(
            accounts.compactMap { account in
                guard let lines = lines[account] else { return nil }
                return ComparedCustomer(
                    IncumbentCustomer(id: names[account] ?? account.uuidString.lowercased(), records: []), account,
                    lines)
            }, on: connection, &batch)
        batch.counts.notInFile = batch.counts.withAccessHere
        return batch
    }

    private func lines(
        of accounts: [UUID], on connection: PostgresConnection
    ) async throws -> [UUID: [EntitlementStore.Line]] {
        guard !accounts.isEmpty else { return [:] }
        let rows = try await connection.pipeline([
            EntitlementStore.command(
                of: accounts, in: app.environment, bundleIds: [app.bundleId],
                from: comparison.takenAt.addingTimeInterval(-EntitlementComparison.tolerance))
        ])
        return Dictionary(grouping: try EntitlementStore.lines(rows[0]), by: \.account)
    }
}

extension CompareAccess {
    private func compare(_ pairs: [ComparedCustomer], on connection: PostgresConnection, _ batch: inout Batch)
        async throws
    {
        let store = ComparisonStore(connection)
        var open: [(pair: ComparedCustomer, comparison: EntitlementComparison)] = []
        for pair in pairs {
            var (hasOurs, hasOthers) = (false, false)
            for compared in comparisons(pair, &batch) {
                guard compared.ours != nil || compared.others != nil else { continue }
                batch.counts.entitlements += 1
                hasOurs = hasOurs || compared.ours != nil
                hasOthers = hasOthers || compared.others != nil
                if compared.isSame { batch.counts.equal += 1 } else { open.append((pair, compared)) }
            }
            batch.counts.withAccessHere += hasOurs ? 1 : 0
            batch.counts.withAccessThere += hasOthers ? 1 : 0
        }
        guard !open.isEmpty else { return }
        try await nameOriginals(&open, on: connection, &batch)
        let ids = Set(open.flatMap { $0.comparison.early == nil ? $0.comparison.purchases : [] }).sorted()
        var facts = EntitlementComparison.Facts()
        facts.purchases = try await store.purchases(ids, app, at: comparison.takenAt).filter {
            $0.value.bundleId == app.bundleId
        }
        facts.isNamed = isNamed
        facts.names = { [namesOfProducts] in namesOfProducts[$0] ?? [$0] }
        if let asksApple {
            for id in ids where facts.purchases[id] == nil {
                if await asksApple(id) == false { facts.unknownToApple.insert(id) }
            }
        }
        var differences: [ComparisonDifference] = []
        for (pair, compared) in open {
            // An export names no end and no kind of what is used up.
            if compared.ours == nil, let id = compared.others?.now.source.purchase,
                facts.purchases[id]?.isConsumable == true
            {
                batch.counts.entitlements -= 1
                continue
            }
            facts.records = pair.records
            let finding = compared.cause(facts)
            batch.counts.causes[finding.cause.rawValue, default: 0] += 1
            let line = compared.others?.now.source.line ?? pair.records.first?.line
            differences.append(
                ComparisonDifference(
                    customerId: pair.customer.id, account: pair.account, entitlement: compared.entitlement,
                    ours: .init(hasAccess: compared.ours != nil, until: compared.ours?.until),
                    others: .init(hasAccess: compared.others != nil, until: compared.others?.until),
                    cause: finding.cause, reason: compared.ours?.now.source.reason, purchase: finding.purchase,
                    notificationUUID: finding.notification, line: line))
        }
        try await store.add(differences, to: comparison.id)
    }

    /// Names the purchases of the file by their original transaction ids: without that column it names them by any transaction. Only of
    /// customers who differ, because access is the same under either name.
    private func nameOriginals(
        _ open: inout [(pair: ComparedCustomer, comparison: EntitlementComparison)], on connection: PostgresConnection,
        _ batch: inout Batch
    ) async throws {
        let ids = Set(open.flatMap { $0.pair.records.compactMap(\.purchase) }).sorted()
        let originals = try await TransactionStore(connection).originals(
            of: ids, bundleId: app.bundleId, in: app.environment
        ).filter { $0.key != $0.value }
        guard !originals.isEmpty else { return }
        for index in open.indices {
            open[index].pair.nameOriginals(originals)
            let name = open[index].comparison.entitlement
            let renamed = comparisons(open[index].pair, &batch).first { $0.entitlement == name }
            open[index].comparison = renamed ?? open[index].comparison
        }
    }

    /// The entitlements of a customer, in order.
    private func comparisons(_ pair: ComparedCustomer, _ batch: inout Batch) -> [EntitlementComparison] {
        var ours: [String: [ComparedSpan<EntitlementStore.Line>]] = [:]
        for line in pair.lines where line.source != .purchase {
            guard let start = line.startsAt else { continue }
            for name in names(line) {
                ours[name, default: []].append(ComparedSpan(startsAt: start, endsAt: line.endsAt, source: line))
            }
        }
        var others: [String: [ComparedSpan<IncumbentRecord>]] = [:]
        for record in pair.records {
            let span = record.span
            guard span.endsAt.map({ span.startsAt < $0 }) ?? true else { continue }
            for name in names(record, &batch) { others[name, default: []].append(span) }
        }
        return Set(ours.keys).union(others.keys).sorted().map { name in
            EntitlementComparison(
                name, at: comparison.takenAt, ours: ours[name] ?? [], others: others[name] ?? [])
        }
    }

    private func names(_ line: EntitlementStore.Line) -> [String] {
        guard line.source != .app else {
            return definitions.names(ofVersion: line.reason ?? "", line.bundleId, in: app.environment)
        }
        return line.productId.map { namesOfProducts[$0] ?? [$0] } ?? []
    }

    private func names(_ record: IncumbentRecord, _ batch: inout Batch) -> [String] {
        let ofProduct = record.product.map { namesOfProducts[$0] ?? [$0] } ?? []
        guard !record.entitlements.isEmpty else { return ofProduct }
        var names: [String] = []
        for entitlement in record.entitlements {
            if record.store == .appStore, !defined.contains(entitlement), !ofProduct.isEmpty {
                batch.undefined.insert(entitlement)
                names += ofProduct
            } else {
                names.append(entitlement)
            }
        }
        return Array(Set(names))
    }
}
