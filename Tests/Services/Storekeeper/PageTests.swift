import ArgumentParser
import Foundation
import Testing

@testable import Storekeeper

/// The pages that people read, compared with the command line that they are about.
struct PageTests {
    @Test func `Pages name commands and options that exist`() throws {
        var found = 0
        for (page, text) in try Self.pages() {
            for mention in Self.mentions(in: text) {
                var words = mention.split(whereSeparator: \.isWhitespace).map(String.init)
                if words.first == "help" { words.removeFirst() }
                let (command, arguments) = Self.command(words)
                found += 1
                // Their arguments are other programs'.
                guard command != SimulatorCommand.self, command != Dev.self else { continue }
                let isWhole = !command.hasSubcommands || command.configuration.defaultSubcommand != nil
                let isFurther = arguments.first.map { !$0.hasPrefix("-") && $0 != "COMMAND" } ?? false
                #expect(isWhole || !isFurther, "\(page): storekeeper \(mention)")
                let help = CommandLineTool.helpMessage(
                    for: command.configuration.defaultSubcommand ?? command, columns: 10_000)
                for option in arguments.joined(separator: " ").matches(of: #/--[a-z][a-z-]*/#) {
                    let isKnown = try help.contains(Regex("\(option.output)(?![a-z-])"))
                    #expect(isKnown, "\(page): storekeeper \(mention): \(option.output)")
                }
            }
        }
        #expect(found > 200)
    }

    @Test func `Page of commands names every command`() throws {
        let page = try Self.text(of: "Documentation/CommandLine.md")
        let lines = page.split(separator: "\n")
        for path in CommandLineTool.paths {
            let (name, last) = (path.joined(separator: " "), path.dropFirst().joined(separator: " "))
            let isNamed = lines.contains { line in
                line.contains("`\(name)`") || line.contains("`\(name) ")
                    || line.hasPrefix("| `\(path[0]) ") && line.contains("`\(last)`")
            }
            #expect(isNamed, "storekeeper \(name)")
        }
    }

    @Test func `List of contents names every page of the folder`() throws {
        let contents = try Self.text(of: "Documentation/README.md")
        for name in try Self.names(in: "Documentation") where name != "README.md" {
            #expect(contents.contains("](\(name))"), "Documentation/\(name)")
        }
    }

    /// At 240 words a minute, blocks of commands not counted. The changelog grows with each release, and of alerts a
    /// reader looks up one.
    @Test func `Pages take ten minutes`() throws {
        let exceptions = ["Documentation/CHANGELOG.md", "Deploy/Alerts.md"]
        for (page, text) in try Self.pages() where !exceptions.contains(page) {
            let words = text.replacing(#/```[\s\S]*?```/#, with: "").split(whereSeparator: \.isWhitespace)
                .count { word in word.contains { $0.isLetter } }
            #expect(words <= 2400, "\(page)")
        }
    }

    // MARK: - Reading

    private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    private static let folders = [
        ".", "Deploy", "Documentation", "Shared/Storage/Storage.docc", "Shared/Domain/Subscriptions/Subscriptions.docc",
        "Shared/Apple/AppStore/AppStore.docc", "Shared/Apple/ServerAPI/ServerAPI.docc",
    ]

    private static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)
            .filter { $0.hasSuffix(".md") }.sorted()
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOf: root.appending(path: page), encoding: .utf8)
    }

    private static func pages() throws -> [(page: String, text: String)] {
        try folders.flatMap { folder in
            try names(in: folder).map { name in
                (page: "\(folder)/\(name)", text: try text(of: "\(folder)/\(name)"))
            }
        }
    }

    /// The words after the program's name in text and in blocks, up to what the shell would read as another command.
    private static func mentions(in text: String) -> [String] {
        let joined = text.replacing("\\\n", with: " ")
        let spans = joined.matches(of: #/`storekeeper\s+([^`]+)`/#).map { String($0.output.1) }
        let lines = joined.matches(of: #/(?m)^(?: *|[A-Z]+=\$\()storekeeper ([a-z-].*)$/#).map { String($0.output.1) }
        return (spans + lines).map { mention in
            String(mention.prefix { !"|;)&".contains($0) })
        }
    }

    /// - Parameter words: what follows the program's name.
    private static func command(
        _ words: [String]
    ) -> (command: any ParsableCommand.Type, arguments: ArraySlice<String>) {
        var command: any ParsableCommand.Type = CommandLineTool.self
        var rest = words[...]
        while let next = command.directSubcommands.first(where: { $0.configuration.commandName == rest.first }) {
            command = next
            rest = rest.dropFirst()
        }
        return (command, rest)
    }
}

extension ParsableCommand {
    fileprivate static var directSubcommands: [any ParsableCommand.Type] {
        configuration.subcommands
    }

    fileprivate static var hasSubcommands: Bool { !directSubcommands.isEmpty }

    /// The names that lead to each command that runs.
    fileprivate static var paths: [[String]] {
        directSubcommands.flatMap { next in
            let name = next.configuration.commandName ?? "?"
            return next.hasSubcommands ? next.paths.map { [name] + $0 } : [[name]]
        }
    }
}
