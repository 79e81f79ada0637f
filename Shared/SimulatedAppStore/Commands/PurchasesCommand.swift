import ArgumentParser
import Foundation
import StrictJSON

/// `simulator purchases`: lists what was bought by command, or shows one.
struct PurchasesCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "purchases", abstract: "List or show purchases made by `simulator buy`.",
        discussion: """
            Shows what state a purchase is in and which events can follow. With --signed it prints the newest transaction as \
            StoreKit hands it to the app, signed: what your app uploads to your backend. --signed-app prints the app transaction \
            of the customer, which says when the app was bought, and ordered before its release (simulator buy --preordered). \
            --device marks either for a device, as StoreKit does, so that a copy on another device is told.

            Examples:
              simulator purchases
              simulator purchases 2000000012345678 --signed
            """)

    @Argument(help: "Transaction id (default: all purchases).")
    var purchase: String?

    @Flag(help: "Print the signed transaction alone.")
    var signed = false

    @Flag(help: "Print the customer's signed app transaction alone.")
    var signedApp = false

    @Option(help: "With --signed or --signed-app: the device, its AppStore.deviceVerificationID (default: none).")
    var device: String?

    @OptionGroup var options: ClientOptions

    func validate() throws {
        if let device {
            guard UUID(uuidString: device) != nil else { throw ValidationError("--device \(device) is no UUID") }
            guard signed || signedApp else { throw ValidationError("--device needs --signed or --signed-app") }
        }
        if let purchase, !APICall.isTransactionId(purchase) {
            throw ValidationError("\(purchase) is no transaction id: those of Apple are digits")
        }
        if signed || signedApp, purchase == nil {
            throw ValidationError("\(signed ? "--signed" : "--signed-app") needs a purchase")
        }
        if signed, signedApp { throw ValidationError("give --signed or --signed-app: each is printed alone") }
    }

    func run(in context: CommandContext) async throws {
        let client = try options.client(in: context)
        let query = device.map { "?device=\($0)" } ?? ""
        let answer = try await client.ask("GET", purchase.map { "purchases/\($0)\(query)" } ?? "purchases")
        if signed || signedApp {
            let member = signed ? "signedTransactionInfo" : "signedAppTransactionInfo"
            guard let text = answer.root[member]?.string else {
                throw SimulatorError(
                    "the simulator has not sent anything about the purchase yet: ask again in a moment")
            }
            return print(text)
        }
        if options.json { return print(String(decoding: answer.bytes, as: UTF8.self)) }
        let all = answer.root["purchases"]?.elements ?? [answer.root]
        if all.isEmpty { return print("No purchase was made by `simulator buy` since the simulator started.") }
        for one in all {
            print(one["originalTransactionId"]?.string ?? "")
            print("  \(one["state"]?.string ?? ""), in \(one["environment"]?.string ?? "")")
            if let end = ClientOptions.time(one["expiresDate"]) { print("  paid until \(end)") }
            print("  account \(one["appAccountToken"]?.string ?? "none")")
            for sent in one["notifications"]?.elements ?? [] {
                let kind = [sent["notificationType"]?.string, sent["subtype"]?.string].compactMap(\.self)
                let time = ClientOptions.time(sent["firstAttempt"]) ?? ""
                print("  \(time)  \(kind.joined(separator: " "))  \(sent["sendAttemptResult"]?.string ?? "under way")")
            }
            let possible = one["possible"]?.elements.compactMap(\.string) ?? []
            print("  can follow: \(possible.isEmpty ? "nothing" : possible.joined(separator: ", "))")
        }
    }
}

/// `simulator products`: lists what can be bought.
struct ProductsCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "products", abstract: "List the products that `simulator buy` can buy.",
        discussion: "Example: simulator products")

    @OptionGroup var options: ClientOptions

    func run(in context: CommandContext) async throws {
        let answer = try await options.client(in: context).ask("GET", "products")
        if options.json { return print(String(decoding: answer.bytes, as: UTF8.self)) }
        let products = answer.root["products"]?.elements ?? []
        let width = products.compactMap { $0["productId"]?.string?.count }.max() ?? 0
        for product in products {
            let id = (product["productId"]?.string ?? "").padding(toLength: width + 2, withPad: " ", startingAt: 0)
            let period = product["period"]?.string.map { ", \($0)" } ?? ""
            print("\(id)\(product["type"]?.string ?? "")\(period)")
        }
    }
}
