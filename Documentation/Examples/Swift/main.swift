// A backend for an app: GET /access says what the user may use, POST /purchases hands over what StoreKit signed.
// POST /hook takes webhooks, whose secret is WEBHOOK_SECRET.
// Put your own login in the place of the header X-User. STOREKEEPER_API, STOREKEEPER_KEY, APP (bundle id) and PORT configure it.
import AsyncHTTPClient
import Foundation
import Hummingbird

func ask<Answer: Decodable>(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    var request = HTTPClientRequest(url: Variables.api + path)
    request.method = .RAW(value: method)
    request.headers.add(name: "Authorization", value: "Bearer \(Variables.key)")
    request.headers.add(name: "Content-Type", value: "application/json")
    request.body = body.map { .bytes($0) }
    let answer = try await HTTPClient.shared.execute(request, timeout: .seconds(15))
    return try JSONDecoder().decode(
        Answer.self, from: Data(try await answer.body.collect(upTo: 1 << 20).readableBytesView))
}

let router = Hummingbird.Router()
router.get("access") { request, _ in
    let user = request.headers.first { $0.name.canonicalName == "x-user" }?.value
        .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    let customer: Customer = try await ask(
        "PUT", "/v1/customers/\(user ?? "")?bundleId=\(Variables.app)", Array("{}".utf8))
    let token = customer.appAccountToken  // the app gives it to StoreKit with every purchase
    let known: Known = try await ask("GET", "/v1/accounts/\(token)/entitlements?bundleId=\(Variables.app)")
    return Access(appAccountToken: token, names: known.names)
}
router.post("purchases") { request, context in  // {"appAccountToken": …, "signedTransactions": […]}
    var upload = try await request.decode(as: Upload.self, context: context)
    upload.bundleId = Variables.app
    let known: Known = try await ask("POST", "/v1/transactions", Array(try JSONEncoder().encode(upload)))
    return Access(finish: known.finish ?? false, names: known.names)  // finish the transactions if it says so
}
router.post("hook") { request, _ in  // Store the event before the answer, and skip a webhook-id that you have.
    let body = Data(try await request.body.collect(upTo: 1 << 20).readableBytesView)
    guard isGenuine(request.headers, body) else { throw HTTPError(.badRequest) }
    return "took \(try JSONDecoder().decode(Event.self, from: body).type)"
}
let address = BindAddress.hostname("127.0.0.1", port: Variables.port)
try await Application(router: router, configuration: .init(address: address)).runService()
