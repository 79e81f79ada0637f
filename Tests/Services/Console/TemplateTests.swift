import Foundation
import Testing

@testable import Console

@Suite struct TemplateTests {
    @Test func `No template shows anything unescaped`() throws {
        for (name, bytes) in Templates.sources {
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(!text.contains("{{{"), "\(name)")
            #expect(text.firstMatch(of: /\{\{\s*&/) == nil, "\(name)")
            #expect(text.firstMatch(of: /\{\{\s*%/) == nil, "\(name) changes how texts are escaped")
            #expect(text.firstMatch(of: /\sstyle=|\son[a-z]+=/) == nil, "\(name) has inline style or script")
            #expect(text.firstMatch(of: /(src|href)="https?:/) == nil, "\(name) refers to elsewhere")
        }
    }

    /// A typo would show nothing instead of failing; the crawler finds those that it meets, this one all.
    @Test func `Every name that a template uses is a property of some view model`() throws {
        let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Services/Console").standardized
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var properties: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            properties.formUnion(text.matches(of: /(let|var) (\w+)(:| =)/).map { String($0.output.2) })
        }
        let partials = Set(Templates.sources.map(\.name)).union(["main"])
        for (name, bytes) in Templates.sources {
            let text = String(decoding: bytes, as: UTF8.self)
            for match in text.matches(of: /\{\{[#^\/<>$]?\s*([\w.-]+)\s*\}\}/) {
                let tag = String(match.output.1)
                #expect(tag == "." || properties.contains(tag) || partials.contains(tag), "\(name) uses \(tag)")
            }
        }
    }

    @Test func `Cells of a table that a phone shows as blocks name their columns`() {
        var count = 0
        for (name, bytes) in Templates.sources {
            for part in String(decoding: bytes, as: UTF8.self).components(separatedBy: #"<table class="stack">"#)
                .dropFirst()
            {
                let table = part.components(separatedBy: "</table>")[0]
                let columns = table.matches(of: /<th scope="col">([^<]+)<\/th>/).map { String($0.output.1) }
                let labels = table.matches(of: /<td data-label="([^"]+)">/).map { String($0.output.1) }
                #expect(labels == Array(columns.dropFirst()), "\(name)")
                count += 1
            }
        }
        #expect(count == 7)
    }

    @Test func `The console's own script and style stay small`() {
        #expect(Asset.script.bytes.count <= 15 * 1024)
        #expect(Asset.style.bytes.count <= 30 * 1024)
    }

    @Test func `A text cannot end an attribute by a character that combines with the quotation mark`() throws {
        for mark in ["\"", "'", "<", ">", "&"] {
            let visible = ViewText.visible("a\(mark)\u{301}b")
            #expect(visible.contains { String($0) == mark }, "\(mark) has to stand alone to be escaped")
        }
        #expect(ViewText.visible("\u{202E}x\u{0007}") == "\\u202ex\\u0007")
        #expect(ViewText.visible("é 👩‍👩‍👧").contains("é"))
    }
}
