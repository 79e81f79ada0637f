import ArgumentParser
import Foundation
import StrictJSON

/// A system that an app moves from, and its API about one customer.
enum OtherSystem: String, CaseIterable, ExpressibleByArgument, Sendable {
    case revenuecat
    case adapty

    /// In messages.
    var name: String {
        switch self {
        case .revenuecat: "RevenueCat"
        case .adapty: "Adapty"
        }
    }

    /// The address of its API.
    var url: String {
        switch self {
        case .revenuecat: "https://api.revenuecat.com"
        case .adapty: "https://api.adapty.io"
        }
    }

    /// The path of a question about a customer, below the address.
    func path(of customer: String) -> String {
        switch self {
        case .revenuecat:
            "/v1/subscribers/"
                + (customer.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? customer)
        case .adapty: "/api/v2/server-side-api/profile/"
        }
    }

    /// The headers that authorize a question, and name the customer.
    func headers(of customer: String, key: String) -> [(name: String, value: String)] {
        switch self {
        case .revenuecat: [("authorization", "Bearer \(key)")]
        case .adapty: [("authorization", "Api-Key \(key)"), ("adapty-customer-user-id", customer)]
        }
    }

    /// The columns of its export that a comparison reads, and that its API answers.
    var columns: [String] {
        switch self {
        case .revenuecat: RevenueCatCustomer.columns
        case .adapty: AdaptyProfile.columns
        }
    }

    /// The records of an answer.
    /// - Parameters:
    ///   - customer: who was asked about.
    ///   - began: when the first customer of the file was asked about.
    func records(
        of answer: [UInt8], about customer: String, since began: Date
    ) throws(AnswerFault) -> [AnsweredRecord] {
        guard let root = try? JSONDocument(answer).root else { throw AnswerFault("the answer is not JSON") }
        return switch self {
        case .revenuecat: try RevenueCatCustomer(root, customer, since: began).records
        case .adapty: try AdaptyProfile(root, customer).records
        }
    }

    /// Those of RFC 3986, which stand in an address as they are.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// One record about a customer, as the export would have it.
struct AnsweredRecord: Sendable, Equatable {
    /// The values by column; columns without a value are left out.
    var fields: [String: String]
    /// A transaction whose original id the answer does not say.
    var transactionId: String?

    /// - Parameter fields: those without a value are nil.
    init(_ fields: [String: String?], transactionId: String? = nil) {
        self.fields = fields.compactMapValues(\.self)
        self.transactionId = transactionId
    }
}

/// Why an answer about a customer cannot be used.
struct AnswerFault: Error {
    var text: String

    init(_ text: String) { self.text = text }
}
