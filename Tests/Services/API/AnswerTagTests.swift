import Contracts
import Foundation
import Storage
import Testing

@testable import API

@Suite struct AnswerTagTests {
    private static let account = UUID()

    private static func versions(
        of account: UUID = account, in environment: StoreEnvironment = .production, bundleIds: [String]? = ["a", "b"],
        _ version: (Int64, Int64) = (1, 2), definitions: Int64 = 3
    ) -> String {
        AnswerTag.versions(
            of: account, in: environment, bundleIds: bundleIds,
            EntitlementStore.Version(account: version.0, revisions: version.1), definitions: definitions)
    }

    @Test(arguments: [Date(milliseconds: 1_767_225_600_123), nil])
    func `A tag is read as it was written`(until: Date?) {
        for versions in [Self.versions(), nil] {
            let tag = AnswerTag(answer: [1, 2], until: until, versions: versions)
            #expect(AnswerTag(tag.text) == tag)
        }
    }

    @Test func `Versions are of one account, environment, set of apps and every version`() {
        let all = [
            Self.versions(), Self.versions(of: UUID()), Self.versions(in: .sandbox), Self.versions(bundleIds: nil),
            Self.versions(bundleIds: ["a"]), Self.versions((2, 2)), Self.versions((1, 3)),
            Self.versions(definitions: 4),
        ]
        #expect(Set(all).count == all.count)
        #expect(Self.versions(bundleIds: ["b", "a"]) == Self.versions())
    }

    @Test(arguments: ["", "W/\"", "W/\"\"", "\"a.b.c\"", "W/\"abc\"", "W/\"a.!.c\"", "W/\"a.b.c.d\"", "*"])
    func `A text that is no tag is none`(text: String) { #expect(AnswerTag(text) == nil) }
}
