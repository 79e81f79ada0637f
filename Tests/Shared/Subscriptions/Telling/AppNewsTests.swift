import Contracts
import Foundation
import Subscriptions
import Testing

@Suite struct AppNewsTests {
    static func news(_ event: String, _ content: AppNews.Content) -> AppNews {
        let parts = event.split(separator: "/").map(String.init)
        return AppNews(
            environment: .production, bundleId: "com.example.metals", stamp: Sample.stamp(1),
            notificationType: parts[0], subtype: parts.count > 1 ? parts[1] : nil, content: content)
    }

    static let table: [(AppNews, subject: String, sentence: String)] = [
        (news("TEST", .test), "test", "Apple sent a test that we asked for."),
        (
            news(
                "RENEWAL_EXTENSION/SUMMARY",
                .massExtension(requestIdentifier: "r1", productId: "gold", succeeded: 5, failed: nil)),
            "extension r1", "The mass extension r1 of gold is complete: 5 extended, an unknown number not."
        ),
        (
            news("EXTERNAL_PURCHASE_TOKEN/UNREPORTED", .externalPurchaseToken(id: "t")), "token t",
            "The external purchase token t was not reported on; report it to Apple."
        ),
        (
            news("EXTERNAL_PURCHASE_TOKEN/CREATED", .externalPurchaseToken(id: "t")), "token t",
            "The external purchase token t was made."
        ),
        (
            news("EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER", .externalPurchaseToken(id: "t")), "token t",
            "The external purchase token t is still open."
        ),
        (
            news("EXTERNAL_PURCHASE_TOKEN/NOVEL", .externalPurchaseToken(id: "t")), "token t",
            "The external purchase token t was mentioned as EXTERNAL_PURCHASE_TOKEN/NOVEL."
        ),
        (
            news("RESCIND_CONSENT", .consentRescinded(appTransactionId: "7")), "consent 7",
            "A parent withdrew the consent to use the app (customer 7)."
        ),
        (
            news("RESCIND_CONSENT", .consentRescinded(appTransactionId: nil)), "consent ",
            "A parent withdrew the consent to use the app."
        ),
        (
            news("DID_DREAM", .other), "DID_DREAM", "Apple sent DID_DREAM, which is about no single purchase."
        ),
    ]

    @Test(arguments: table.indices) func `news about no purchase has a subject and a sentence`(index: Int) {
        let (news, subject, sentence) = Self.table[index]
        #expect(news.subject == subject)
        #expect(news.sentence == sentence)
    }
}
