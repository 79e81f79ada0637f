import AppStore
import Contracts
import Foundation
import ServerAPI
import Signatures
import StrictJSON
import Testing

@testable import SimulatedAppStore

/// The client that production uses, against every endpoint of the server. Each was written from Apple's documentation, and what
/// one of them misread shows here.
@Suite struct ClientAgainstServerTests {
    @Test func `Notification history comes in pages, continues from a token, and is accepted by the verifier`()
        async throws
    {
        try await Self.meet { fixture, client in
            let sent = try PurchaseFixture.subscriptions(45).map {
                try fixture.send($0, answers: [.unavailable, .accepted])
            }
            let request = NotificationHistoryRequest(startDate: SimulatorFixture.beginning, endDate: fixture.now)
            var items: [NotificationHistoryItem] = []
            var token: String?
            // From the beginning for each page, like a scheduler that was killed and replaced.
            repeat {
                var pages = client.notificationHistory(request, from: token).makeAsyncIterator()
                let page = try #require(try await pages.next())
                items += page.items
                token = page.position
                #expect(page.hasMore == (items.count < 45))
            } while items.count < 45
            #expect(items.compactMap(\.signedPayload) == sent.map(\.payload.jws))
            for item in items {
                let results = item.sendAttempts.map { $0.sendAttemptResult?.rawValue }
                #expect(results == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
                #expect(item.sendAttempts.allSatisfy { $0.sendAttemptResult?.isKnown == true && $0.attemptDate != nil })
                let jws = try #require(item.signedPayload)
                guard case .success = Self.verifier.notification(jws, now: fixture.now) else {
                    return _ = Issue.record("history holds what is not verified")
                }
            }
            let failures = NotificationHistoryRequest(
                startDate: SimulatorFixture.beginning, endDate: fixture.now, notificationType: .subscribed,
                notificationSubtype: .initialBuy, onlyFailures: true)
            for try await page in client.notificationHistory(failures) { #expect(page.items.isEmpty) }
        }
    }

    @Test func `Report about an external purchase token is taken once, kept, and a wrong one is rejected`() async throws
    {
        try await Self.meet { fixture, client in
            var report = ExternalPurchaseReport(
                requestIdentifier: "87e7d6d1-b98d-4a8f-b6a4-41ba992a6cad", externalPurchaseId: "token",
                status: .noLineItem)
            await #expect(throws: APIError.self) { _ = try await client.externalPurchaseReport("none") }
            let receipt = try await client.sendExternalPurchaseReport(report)
            #expect(receipt.requestIdentifier == report.requestIdentifier)
            let kept = try await client.externalPurchaseReport(report.requestIdentifier ?? "")
            #expect(kept == report)
            await #expect(throws: APIError.self) { _ = try await client.sendExternalPurchaseReport(report) }
            report.requestIdentifier = UUID().uuidString
            report.status = .lineItem
            let error = await #expect(throws: APIError.self) {
                _ = try await client.sendExternalPurchaseReport(report)
            }
            #expect(error.map { "\($0)".contains("status: The status LINE_ITEM needs line items.") } == true)
        }
    }

    @Test func `Retention messages show images that exist, have defaults, and are deleted in order`() async throws {
        try await Self.meet { fixture, client in
            let (image, message) = (UUID(), UUID())
            let json = Array(
                #"{"header":"h","body":"b","image":{"imageIdentifier":"\#(image.uuidString)","altText":"a"}}"#.utf8)
            func code(_ call: () async throws -> Void) async -> APIErrorCode? {
                do { try await call() } catch APIError.rejected(let rejection) { return rejection.code } catch {}
                return nil
            }
            #expect(await code { try await client.uploadRetentionMessage(message, json: json) } == .imageNotFound)
            #expect(await code { try await client.uploadRetentionImage(image, png: [1]) } == .invalidImage)
            for (width, height, kind) in [(3839, 160, 2), (3840, 159, 2), (3840, 2161, 2), (3840, 160, 6)]
                as [(UInt16, UInt16, UInt8)]
            {
                let png = Self.png(width, height, kind: kind)
                #expect(await code { try await client.uploadRetentionImage(image, png: png) } == .invalidImage)
            }
            try await client.uploadRetentionImage(image, png: Self.png(3840, 160), size: "FULL_SIZE")
            try await client.uploadRetentionMessage(message, json: json)
            #expect(
                await code { try await client.uploadRetentionMessage(message, json: json) } == .messageAlreadyExists)
            #expect(try await client.retentionImages().map(\.imageIdentifier) == [image.uuidString.lowercased()])
            #expect(try await client.retentionMessages().map(\.messageState) == ["APPROVED"])
            let bullet = UUID()
            for (width, height) in [(1023, 1024), (1024, 1025), (3840, 160)] as [(UInt16, UInt16)] {
                let png = Self.png(width, height)
                #expect(
                    await code { try await client.uploadRetentionImage(bullet, png: png, size: "BULLET_POINT") }
                        == .invalidImage)
            }
            try await client.uploadRetentionImage(bullet, png: Self.png(1024, 1024), size: "BULLET_POINT")
            #expect(Set(try await client.retentionImages().map(\.imageSize)) == ["FULL_SIZE", "BULLET_POINT"])
            #expect(await code { try await client.deleteRetentionImage(image) } == .imageInUse)
            try await client.setDefaultRetentionMessage(message, productId: "p", locale: "en-US")
            #expect(
                try await client.defaultRetentionMessage(productId: "p", locale: "en-US")
                    == message.uuidString.lowercased())
            #expect(
                await code {
                    try await client.setDefaultRetentionMessage(message, productId: "p", locale: "English")
                } == .invalidLocale)
            try await client.deleteRetentionMessage(message)
            #expect(
                await code { _ = try await client.defaultRetentionMessage(productId: "p", locale: "en-US") }
                    == .defaultMessageNotFound)
            try await client.deleteRetentionImage(image)
            #expect(await code { _ = try await client.realtimeURL() } == .realtimeURLNotFound)
            #expect(await code { try await client.setRealtimeURL("https://a.example") } == .forbiddenNoPassingTest)
            #expect(
                await code { _ = try await client.startPerformanceTest(of: "1") } == .invalidPerformanceTestRequest)
        }
    }

    /// The beginning of a PNG file.
    /// - Parameter kind: 2 is colours, 6 colours with transparency.
    private static func png(_ width: UInt16, _ height: UInt16, kind: UInt8 = 2) -> [UInt8] {
        var png = PNGHeader.signature + [0, 0, 0, 13] + Array("IHDR".utf8)
        for size in [width, height] { png += [0, 0, UInt8(size >> 8), UInt8(size & 0xFF)] }
        return png + [8, kind, 0, 0, 0, 0, 0, 0, 0]
    }

    @Test func `Retention messages are shown once they are approved, which the seed decides`() async throws {
        try await SimulatorFixture.open(review: RetentionReview(seed: 1)) { fixture in
            let client = try Self.client(of: fixture, with: [fixture.token])
            var ids: [String: UUID] = [:]
            for number in 0..<40 {
                let id = try #require(UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", number)))
                try await client.uploadRetentionMessage(id, json: Array(#"{"header":"h","body":"b"}"#.utf8))
                ids[id.uuidString.lowercased()] = id
            }
            func states() async throws -> [String: [UUID]] {
                Dictionary(grouping: try await client.retentionMessages(), by: { $0.messageState ?? "" })
                    .mapValues { $0.compactMap { message in message.messageIdentifier.flatMap { ids[$0] } } }
            }
            let before = try await states()
            #expect(before.values.reduce(0) { $0 + $1.count } == 40)
            let approved = try #require(before["APPROVED"]?.first)
            try await client.setDefaultRetentionMessage(approved, productId: "p", locale: "en-US")
            for state in ["REJECTED", "PENDING_REVIEW"] {
                let id = try #require(before[state]?.first)
                let error = await #expect(throws: APIError.self) {
                    try await client.setDefaultRetentionMessage(id, productId: "p", locale: "en-US")
                }
                guard case .rejected(let rejection)? = error else {
                    Issue.record("\(state): \(String(describing: error))")
                    continue
                }
                #expect(rejection.code == .messageNotApproved)
            }
            fixture.move(by: RetentionReview.duration)
            let after = try await states()
            #expect(after["PENDING_REVIEW"] == nil && after["REJECTED"]?.count == before["REJECTED"]?.count)
        }
    }

    @Test func `A review decides the same about the same id, and all is approved in the sandbox`() {
        let (review, now) = (RetentionReview(seed: 7), Date(timeIntervalSince1970: 1_760_000_000))
        let ids = (0..<1000).map { "image \($0)" }
        let states = ids.map { review.state(of: $0, uploadedAt: now, in: .production, at: now) }
        #expect(states == ids.map { review.state(of: $0, uploadedAt: now, in: .production, at: now) })
        for state in [RetentionReview.State.pending, .rejected] {
            #expect(50...150 ~= states.count { $0 == state }, "\(state)")
        }
        #expect(ids.allSatisfy { review.state(of: $0, uploadedAt: now, in: .sandbox, at: now) == .approved })
    }

    @Test func `Advanced Commerce changes are checked, and what they lead to is signed`() async throws {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture(daysAgo: 10)
            try fixture.send(story.next(.subscribe))
            func ask(
                _ operation: AppStoreServerAPI.AdvancedCommerceOperation, _ members: String,
                _ reference: UUID = UUID()
            ) async throws -> AppStoreServerAPI.AdvancedCommerceOutcome {
                try await client.advancedCommerce(
                    operation, story.id, json: Array("{\(Self.requestInfo(reference))\(members)}".utf8))
            }
            func code(_ call: () async throws -> Void) async -> APIErrorCode? {
                do { try await call() } catch { return (error as? APIError)?.code }
                return nil
            }
            let changed = try await ask(.changePrice, #","items":[{"SKU":"a","price":1990}]"#)
            #expect(changed.transaction?.value?.originalTransactionId == story.id)
            #expect(changed.renewalInfo?.value?.originalTransactionId == story.id)
            #expect(changed.renewalInfo?.value?.renewalPrice == 1_990)
            #expect(Self.kind(of: story.id, in: fixture) == NotificationKind(.priceChange))
            let names = #""displayName":"Paper","description":"Daily""#
            let later = #","descriptors":{"effective":"NEXT_BILL_CYCLE",\#(names)}"#
            let now = #","items":[{"currentSKU":"a","effective":"IMMEDIATELY",\#(names)}]"#
            let renamed = try await ask(.changeMetadata, later + now)
            let bought = try Self.info(renamed.transaction?.value?.advancedCommerceInfo)
            #expect(bought.items?.map(\.displayName) == ["Paper"] && bought.descriptors?.description == "All titles")
            let next = try Self.info(renamed.renewalInfo?.value?.advancedCommerceInfo)
            #expect(next.descriptors?.description == "Daily")
            #expect(Self.kind(of: story.id, in: fixture) == NotificationKind(.metadataUpdate))
            let migrating = #","targetProductId":"generic","taxCode":"C","items":[{"SKU":"a",\#(names)}]"#
            #expect(await code { _ = try await ask(.migrate, migrating) } == .nullDescriptors)
            _ = try await ask(.migrate, migrating + #","descriptors":{\#(names)}"#)
            let long = #""currentSKU":"a","displayName":"\#(String(repeating: "x", count: 31))""#
            for (members, expected) in [
                (#""descriptors":{"displayName":"x"}"#, .nullEffective),
                (#""descriptors":{"effective":"SOON","displayName":"x"}"#, .malformedPayload),
                (#""descriptors":{"effective":"IMMEDIATELY"}"#, .atLeastOneOfDisplayNameOrDescription),
                (#""items":[{"effective":"IMMEDIATELY","SKU":"a"}]"#, .nullSKU),
                (#""items":[{"effective":"IMMEDIATELY","currentSKU":"b"}]"#, .invalidSKU),
                (#""items":[{"effective":"IMMEDIATELY",\#(long)}]"#, .displayNameLengthExceeded),
            ] as [(String, APIErrorCode)] {
                #expect(await code { _ = try await ask(.changeMetadata, ",\(members)") } == expected, "\(members)")
            }
            let risk = #","refundRiskingPreference":false"#
            let declined = #","items":[{"SKU":"a","refundReason":"SIMULATE_REFUND_DECLINE","refundType":"FULL"}]"#
            #expect(
                await code { _ = try await ask(.requestRefund, declined + risk) } == APIErrorCode(rawValue: 4_000_158))
            let refund = #","items":[{"SKU":"a","refundReason":"LEGAL","refundType":"FULL","revoke":true}]"#
            let refunded = try #require(try await ask(.requestRefund, refund + risk).transaction?.value)
            let items = try Self.info(refunded.advancedCommerceInfo).items
            #expect(items?.map(\.sku) == ["a"] && items?.first?.refunds?.first?.refundReason == "LEGAL")
            #expect(items?.first?.revocationDate != nil && refunded.revocationDate != nil)
            #expect(Self.kind(of: story.id, in: fixture) == .refund)
            let other = #","items":[{"SKU":"b","refundReason":"LEGAL","refundType":"FULL","revoke":true}]"#
            #expect(await code { _ = try await ask(.requestRefund, other + risk) } == .invalidSKU)
            #expect(await code { _ = try await ask(.requestRefund, refund) } == .nullRefundRiskingPreference)
            #expect(
                await code { _ = try await ask(.requestRefund, #","items":[{"SKU":"a"}]"#) } == .nullRefundReason)
            #expect(await code { _ = try await ask(.changePrice, "") } == .nullItems)
            #expect(await code { _ = try await ask(.changePrice, #","items":[]"#) } == .atLeastOneItem)
            #expect(
                await code { _ = try await ask(.changePrice, #","items":[{"SKU":"a","price":-1}]"#) } == .negativePrice)
            #expect(
                await code { _ = try await client.advancedCommerce(.cancel, story.id, json: Array("{}".utf8)) }
                    == .nullRequestInfo)
            let nothing = Array("{\(Self.requestInfo(UUID()))}".utf8)
            #expect(
                await code { _ = try await client.advancedCommerce(.cancel, "999", json: nothing) }
                    == .transactionIdNotFound)
        }
    }

    @Test func `Advanced Commerce takes a requestReferenceId for one request, and a retry of it does nothing`()
        async throws
    {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture(daysAgo: 10)
            try fixture.send(story.next(.subscribe))
            let (id, reference) = (story.id, UUID())
            func ask(
                _ operation: AppStoreServerAPI.AdvancedCommerceOperation, _ members: String, _ reference: UUID
            ) async throws -> JWSRenewalInfoDecodedPayload? {
                try await client.advancedCommerce(
                    operation, id, json: Array("{\(Self.requestInfo(reference))\(members)}".utf8)
                ).renewalInfo?.value
            }
            func code(_ call: () async throws -> Void) async -> APIErrorCode? {
                do { try await call() } catch { return (error as? APIError)?.code }
                return nil
            }
            func newest() -> UUID? {
                fixture.historyStore.withHistory(of: SimulatorFixture.production) { $0.subscriber(id)?.newest.uuid }
            }
            // A request that is refused takes none.
            #expect(await code { _ = try await ask(.changePrice, #","items":[]"#, reference) } == .atLeastOneItem)
            let price = #","items":[{"SKU":"a","price":1990}]"#
            #expect(try await ask(.changePrice, price, reference)?.renewalPrice == 1_990)
            let announced = newest()
            fixture.move(by: 1)
            #expect(try await ask(.changePrice, price, reference)?.renewalPrice == 1_990)
            let another = #","items":[{"SKU":"a","price":2990}]"#
            #expect(await code { _ = try await ask(.changePrice, another, reference) } == .repeatedRequestReferenceId)
            #expect(await code { _ = try await ask(.cancel, "", reference) } == .repeatedRequestReferenceId)
            #expect(newest() == announced)
            #expect(try await ask(.changePrice, another, UUID())?.renewalPrice == 2_990)
        }
    }

    private static func requestInfo(_ reference: UUID) -> String {
        #""requestInfo":{"requestReferenceId":"\#(reference.uuidString)"}"#
    }

    private static func info(_ json: RawJSON?) throws -> AdvancedCommerceInfo {
        try AdvancedCommerceInfo(json: JSONDocument(try #require(json?.bytes)).root)
    }

    /// The newest notification about a purchase.
    private static func kind(of id: String, in fixture: SimulatorFixture) -> NotificationKind? {
        fixture.historyStore.withHistory(of: SimulatorFixture.production) { $0.subscriber(id)?.newest.kind }
    }

    @Test func `Transactions, statuses and refunds are verified and complete`() async throws {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture(daysAgo: 1000)
            try fixture.send(story.next(.subscribe))
            for _ in 0..<24 { try fixture.send(story.next(.renew)) }
            var ids: [String] = []
            var revision: String?
            for try await page in client.transactionHistory(of: story.id) {
                ids += try page.transactions.map { try #require($0.value?.transactionId) }
                revision = page.position
            }
            #expect(ids.count == 25 && Set(ids).count == 25)
            try fixture.send(story.next(.refund))
            var changed: [JWSTransactionDecodedPayload?] = []
            for try await page in client.transactionHistory(of: story.id, from: revision) {
                changed += page.transactions.map(\.value)
            }
            #expect(changed.map { $0?.transactionId } == [story.transactionId])
            #expect(changed.first??.revocationDate != nil)

            var refunds: [String?] = []
            for try await page in client.refundHistory(of: story.id) {
                refunds += page.transactions.map { $0.value?.transactionId }
            }
            #expect(refunds == [story.transactionId])

            let statuses = try await client.subscriptionStatuses(of: story.id, statuses: [.revoked, .active])
            let item = try #require(statuses.groups.first?.items.first)
            #expect(item.status == .revoked)
            #expect(item.transaction?.value?.transactionId == story.transactionId)
            #expect(item.renewalInfo?.value?.autoRenewStatus == .off)

            #expect(try await client.transactionInfo(story.id).value?.transactionId == story.id)
            let app = try await client.appTransactionInfo(story.id)
            #expect(app.value?.appTransactionId == story.simulated.customer.appTransactionId)
            let order = try await client.lookUpOrder(OrderNumber(transactionId: story.id).text)
            #expect(order.status == .valid)
            #expect(order.transactions.map { $0.value?.transactionId } == [story.id])
            #expect(try await client.lookUpOrder("MNOSUCH").status == .invalid)
        }
    }

    @Test func `Every parameter of the transaction history has its effect`() async throws {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            var query = TransactionHistoryQuery()
            query.startDate = story.simulated.purchase?.purchaseDate
            query.endDate = fixture.now
            query.productIds = [Product.subscriptions[1].id(in: "com.example.app"), "other"]
            query.productTypes = [.autoRenewable, .consumable]
            query.sort = .descending
            query.subscriptionGroupIdentifiers = ["21447302"]
            query.inAppOwnershipType = .purchased
            query.revoked = false
            for version in [AppStoreServerAPI.TransactionHistoryVersion.v1, .v2] {
                var found: [String?] = []
                for try await page in client.transactionHistory(of: story.id, query, version: version) {
                    found += page.transactions.map { $0.value?.transactionId }
                }
                #expect(found == [story.id])
            }
        }
    }

    @Test func `Every endpoint that changes something has its effect`() async throws {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let end = try #require(story.simulated.purchase?.expiresDate)
            let order = ExtendRenewalDateRequest(
                extendByDays: 5, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "one")
            let extended = try await client.extendRenewalDate(of: story.id, order)
            #expect(extended.success == true)
            #expect(extended.effectiveDate == end.adding(5 * 86_400))
            #expect(fixture.nextOrdered()?.kind == .extended)

            let product = Product.subscriptions[1].id(in: "com.example.app")
            let all = MassExtendRenewalDateRequest(
                extendByDays: 5, extendReasonCode: .other, requestIdentifier: "all", productId: product)
            #expect(try await client.extendRenewalDates(all).requestIdentifier == "all")
            #expect(fixture.nextOrdered()?.kind == .extended)
            try fixture.send(try #require(fixture.nextOrdered()))
            let status = try await client.massExtensionStatus(productId: product, requestIdentifier: "all")
            #expect(status.complete == true && status.succeededCount == 1 && status.failedCount == 0)

            let token = UUID(uuid: (15, 143, 173, 91, 217, 203, 70, 159, 161, 101, 112, 134, 119, 40, 149, 14))
            try await client.setAppAccountToken(of: story.id, token)
            let info = try await client.transactionInfo(story.id)
            #expect(info.value?.appAccountToken == token.uuidString.lowercased())
            try await client.sendConsumptionInformation(
                story.id,
                ConsumptionRequest(
                    customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered,
                    refundPreference: .decline))
            try await client.finishTransaction(story.id)
        }
    }

    @Test func `Test notification is followed from the request to its result`() async throws {
        try await Self.meet { fixture, client in
            let token = try await client.requestTestNotification()
            let early = await #expect(throws: APIError.self) { try await client.testNotificationStatus(token) }
            #expect(early?.code == .testNotificationNotFound)
            let notification = try fixture.send(try #require(fixture.nextOrdered()))
            let status = try await client.testNotificationStatus(token)
            #expect(status.signedPayload == notification.payload.jws)
            #expect(status.sendAttempts.map { $0.sendAttemptResult?.rawValue } == ["SUCCESS"])
        }
    }

    @Test func `Apple's errors arrive with their codes`() async throws {
        try await Self.meet { fixture, client in
            let unknown = await #expect(throws: APIError.self) { try await client.transactionInfo("77") }
            #expect(unknown?.status == 404)
            #expect(unknown?.code == .transactionIdNotFound)
            #expect(unknown?.isRetryable == false)
            let request = NotificationHistoryRequest(
                startDate: SimulatorFixture.beginning.adding(-200 * 86_400), endDate: fixture.now)
            let old = await #expect(throws: APIError.self) {
                for try await _ in client.notificationHistory(request) {}
            }
            #expect(old?.code == .startDateTooFarInPast)
        }
    }

    @Test func `Temporary faults are overcome: too many requests, an error, a closed connection, silence`() async throws
    {
        try await Self.meet { fixture, client in
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            for fault in [
                ServerFault(kind: .storm, remaining: 2, delay: .milliseconds(5)),
                ServerFault(kind: .error, remaining: 2, errorCode: 5_000_001),
                ServerFault(kind: .close, remaining: 2),
            ] {
                fixture.faults.add(fault)
                let found = try await client.transactionInfo(story.id)
                #expect(found.value?.transactionId == story.id)
                #expect(fixture.faults.all(now: fixture.now).isEmpty)
            }
            fixture.faults.add(ServerFault(kind: .slow, remaining: 1, delay: .seconds(600)))
            let hasty = try Self.client(of: fixture, with: [fixture.token], patience: .seconds(5))
            _ = try await hasty.transactionInfo(story.id)
            #expect(fixture.faults.all(now: fixture.now).isEmpty)
        }
    }

    @Test func `Revoked key is replaced by the other one, and without another the client is told`() async throws {
        try await Self.meet { fixture, _ in
            // A rejected client compares the answer's Date with its own clock.
            fixture.move(by: Date().timeIntervalSince(fixture.now))
            var story = PurchaseFixture()
            try fixture.send(story.next(.subscribe))
            let second = try fixture.token.changed {
                $0.keyId = "SECONDKEY1"
                $0.key = try .generate()
            }
            fixture.keys.add(try second.accepted)
            let both = try Self.client(of: fixture, with: [fixture.token, second])
            _ = try await both.transactionInfo(story.id)
            #expect(fixture.keys.revoke(fixture.token.keyId))
            _ = try await both.transactionInfo(story.id)
            #expect(fixture.keys.revoke(second.keyId))
            let rejected = await #expect(throws: APIError.self) { try await both.transactionInfo(story.id) }
            #expect(rejected?.status == 401)
        }
    }

    // MARK: The two

    private static let registry = AppRegistry(apps: [
        AcceptedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890)
    ])
    private static let verifier = SignedDataVerifier(
        trust: TrustStore(
            roots: (try? NotificationSignerTests.authority.get()).flatMap { try? Certificate(der: $0.root) }.map {
                [$0]
            }
                ?? []),
        apps: registry)
    private static let transport = APITransport()

    private static func meet(_ body: @Sendable (SimulatorFixture, AppStoreServerAPI) async throws -> Void) async throws
    {
        try await SimulatorFixture.open { fixture in
            try await body(fixture, try client(of: fixture, with: [fixture.token]))
        }
    }

    /// - Parameter patience: short only where the answer is delayed on purpose; a busy machine must not look like that.
    private static func client(
        of fixture: SimulatorFixture, with tokens: [FixtureToken], patience: Duration = .seconds(60)
    ) throws -> AppStoreServerAPI {
        let clock = APIClock(now: { fixture.now }, random: { 0.5 })
        let keys = tokens.map { ServerAPI.APIKey(issuerId: $0.issuerId, keyId: $0.keyId, privateKey: $0.key) }
        return AppStoreServerAPI(
            app: AcceptedApp(bundleId: "com.example.app", appAppleId: 1_234_567_890), environment: .production,
            credentials: APICredentials(keys: keys), verifier: verifier, transport: transport, clock: clock,
            baseURL: fixture.address + "/production",
            limits: APIRateLimits(environment: .production, scale: 1000, clock: clock),
            retry: APIRetryPolicy(
                attempts: 5, firstPause: .milliseconds(1), longestPause: .milliseconds(5),
                attemptTimeout: patience))
    }
}
