import Foundation
import Operations
import Testing

@testable import Storekeeper

/// Answers of the other systems' APIs as their documentation shows them.
struct AnswersTests {
    private static let began = Date(timeIntervalSince1970: 1_564_162_810)

    private static func records(
        _ system: OtherSystem, _ answer: String, about customer: String = "user-1"
    ) throws -> [[String: String]] {
        try system.records(of: Array(answer.utf8), about: customer, since: began).map(\.fields)
    }

    @Test func `RevenueCat's subscriptions, purchases and grants become records of its export`() throws {
        let answer = """
            {"request_date":"2019-07-26T17:40:10Z","subscriber":{"entitlements":{
            "pro":{"expires_date":"2019-08-14T21:07:40Z","grace_period_expires_date":null,"product_identifier":"annual",
            "purchase_date":"2019-07-14T20:07:40Z"},
            "lounge":{"expires_date":"2019-09-01T00:00:00Z","product_identifier":"pass","purchase_date":"2019-06-01T00:00:00Z"},
            "cat":{"expires_date":null,"product_identifier":"onetime","purchase_date":"2019-04-05T21:52:45Z"}},
            "non_subscriptions":{"onetime":[{"id":"cadba0c81b","is_sandbox":true,"purchase_date":"2019-04-05T21:52:45Z",
            "store":"app_store","store_transaction_id":"100"}],"pass":[{"id":"2","is_sandbox":false,
            "purchase_date":"2019-06-01T00:00:00Z","store":"app_store","store_transaction_id":"200"}]},
            "original_app_user_id":"$RCAnonymousID:1","subscriber_attributes":{"$email":{"value":"one@example.com"}},
            "subscriptions":{"annual":{"expires_date":"2019-08-14T21:07:40Z","grace_period_expires_date":"2019-08-20T00:00:00Z",
            "is_sandbox":false,"original_purchase_date":"2018-07-14T20:07:40Z","ownership_type":"FAMILY_SHARED",
            "purchase_date":"2019-07-14T20:07:40Z","refunded_at":"2019-07-20T00:00:00Z","store":"app_store",
            "store_transaction_id":"300"},"late":{"expires_date":"2019-09-26T00:00:00Z","is_sandbox":false,
            "original_purchase_date":"2019-06-26T00:00:00Z","purchase_date":"2019-08-26T00:00:00Z","store":"app_store",
            "store_transaction_id":"400"},"other":{"expires_date":"2019-09-26T00:00:00Z","is_sandbox":false,
            "purchase_date":"2019-07-01T00:00:00Z","store":"play_store","store_transaction_id":"GPA.1"}}}}
            """
        let records = try Self.records(.revenuecat, answer)
        #expect(
            records.map { $0["product_identifier"] } == ["annual", "late", "other", "onetime", "pass"], "\(records)")
        #expect(
            records[0] == [
                "rc_original_app_user_id": "$RCAnonymousID:1", "rc_last_seen_app_user_id_alias": "user-1",
                "store": "app_store", "is_sandbox": "false", "store_transaction_id": "300",
                "product_identifier": "annual", "start_time": "2019-07-14T20:07:40Z",
                "end_time": "2019-08-14T21:07:40Z",
                "grace_period_end_time": "2019-08-20T00:00:00Z", "refunded_at": "2019-07-20T00:00:00Z",
                "ownership_type": "FAMILY_SHARED", "entitlement_identifiers": #"["pro"]"#,
            ])
        // Renewed while customers were asked about.
        #expect(records[1]["start_time"] == "2019-06-26T00:00:00Z")
        #expect(records[3]["is_sandbox"] == "true" && records[3]["end_time"] == nil)
        #expect(records[4]["end_time"] == "2019-09-01T00:00:00Z")
        let transactions = try OtherSystem.revenuecat.records(
            of: Array(answer.utf8), about: "user-1", since: Self.began
        ).map(\.transactionId)
        #expect(transactions == ["300", "400", nil, "100", "200"])
    }

    @Test func `Adapty's subscriptions and purchases become records of its daily file`() throws {
        let records = try Self.records(
            .adapty,
            """
            {"data":{"profile_id":"p-1","customer_user_id":"77B14FB4","email":"one@example.com","access_levels":[
            {"access_level_id":"premium","store_original_transaction_id":"2","expires_at":"2025-02-03T10:50:23+00:00"},
            {"access_level_id":"pass","store_original_transaction_id":"5","expires_at":"2025-03-01T00:00:00+00:00"}],
            "subscriptions":[{"store":"app_store","store_product_id":"monthly","store_original_transaction_id":"1",
            "environment":"Production","purchased_at":"2024-12-24T10:50:23+00:00","expires_at":"2025-01-24T10:50:23+00:00",
            "is_in_grace_period":false,"cancellation_reason":null},
            {"store":"app_store","store_product_id":"monthly","store_original_transaction_id":"2","environment":"Sandbox",
            "purchased_at":"2024-12-24T10:50:23+00:00","expires_at":"2025-01-24T10:50:23+00:00","is_in_grace_period":true,
            "cancellation_reason":"billing_error"},
            {"store":"app_store","store_product_id":"monthly","store_original_transaction_id":"3","environment":"Production",
            "purchased_at":"2024-12-24T10:50:23+00:00","expires_at":"2025-01-24T10:50:23+00:00","is_in_grace_period":false,
            "renewal_cancelled_at":"2025-01-05T13:27:47.461425+00:00","cancellation_reason":"refund"}],
            "non_subscriptions":[{"store":"app_store","store_product_id":"life","store_original_transaction_id":"4",
            "purchased_at":"2022-10-12T09:42:50+00:00","environment":"Production","is_refund":false,"is_consumable":false},
            {"store":"app_store","store_product_id":"pass","store_original_transaction_id":"5",
            "purchased_at":"2022-10-12T09:42:50+00:00","environment":"Production","is_refund":true,"is_consumable":false},
            {"store":"app_store","store_product_id":"coins","store_original_transaction_id":"6",
            "purchased_at":"2022-10-12T09:42:50+00:00","environment":"Production","is_refund":false,"is_consumable":true}]}}
            """)
        #expect(
            records[0] == [
                "profile_id": "p-1", "customer_user_id": "user-1", "event_type": "subscription_renewed",
                "event_datetime": "2024-12-24T10:50:23+00:00", "original_transaction_id": "1",
                "subscription_expires_at": "2025-01-24T10:50:23+00:00", "environment": "Production",
                "store": "app_store", "product_id": "monthly",
            ])
        #expect(
            records.map { $0["event_type"] } == [
                "subscription_renewed", "entered_grace_period", "subscription_refunded", "non_subscription_purchase",
                "non_subscription_purchase_refunded",
            ])
        #expect(records[1]["subscription_expires_at"] == "2025-02-03T10:50:23+00:00")
        #expect(records[2]["event_datetime"] == "2025-01-05T13:27:47.461425+00:00")
        #expect(records[3]["subscription_expires_at"] == nil)
        #expect(records[4]["subscription_expires_at"] == "2025-03-01T00:00:00+00:00")
    }

    @Test(arguments: [(OtherSystem.revenuecat, "{}"), (OtherSystem.adapty, "[]"), (OtherSystem.revenuecat, "<html>")])
    func `Another answer is a fault`(system: OtherSystem, answer: String) {
        #expect(throws: AnswerFault.self) { _ = try Self.records(system, answer) }
    }

    @Test func `Ids stand in an address encoded`() {
        #expect(OtherSystem.revenuecat.path(of: "a/b?c d€") == "/v1/subscribers/a%2Fb%3Fc%20d%E2%82%AC")
        #expect(OtherSystem.adapty.headers(of: "a", key: "k").map(\.value) == ["Api-Key k", "a"])
    }
}
