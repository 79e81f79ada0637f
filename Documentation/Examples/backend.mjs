// A backend for an app: GET /access says what the user may use, POST /purchases hands over what StoreKit signed.
// POST /hook takes webhooks, whose secret is WEBHOOK_SECRET.
// Put your own login in the place of the header X-User. STOREKEEPER_API, STOREKEEPER_KEY, APP (bundle id) and PORT configure it.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const { STOREKEEPER_API, STOREKEEPER_KEY, APP, PORT, WEBHOOK_SECRET } = process.env;

async function ask(method, path, body) {
  const answer = await fetch(STOREKEEPER_API + path, {
    method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(15_000),
    headers: { Authorization: `Bearer ${STOREKEEPER_KEY}`, "Content-Type": "application/json" },
  });
  return answer.json(); // 503: the members of the problem say whether to let the user in
}

const names = (known) => (known?.entitlements ?? []).map((one) => one.name);

async function access(request) {
  const customer = `/v1/customers/${encodeURIComponent(request.headers["x-user"])}`;
  const { appAccountToken } = await ask("PUT", `${customer}?bundleId=${APP}`, {}); // the app gives it to StoreKit
  return { appAccountToken, names: names(await ask("GET", `/v1/accounts/${appAccountToken}/entitlements?bundleId=${APP}`)) };
}

async function purchases(request) { // {"appAccountToken": …, "signedTransactions": […]}: finish them if it says so
  const upload = JSON.parse((await request.toArray()).join(""));
  const answer = await ask("POST", "/v1/transactions", { ...upload, bundleId: APP });
  return { finish: answer.finish ?? false, names: names(answer.answer ?? answer) };
}

// Whether Storekeeper sent it, within five minutes: body is the bytes as received.
function isGenuine(headers, body) {
  const timestamp = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const code = createHmac("sha256", Buffer.from(WEBHOOK_SECRET.replace("whsec_", ""), "base64"))
    .update(`${headers["webhook-id"]}.${timestamp}.`).update(body).digest();
  return (headers["webhook-signature"] ?? "").split(" ").some((one) => { // two for a day after a rotation
    const [version, given] = [one.slice(0, 3), Buffer.from(one.slice(3), "base64")];
    return version === "v1," && given.length === code.length && timingSafeEqual(given, code);
  });
}

async function hook(request, response) { // Store the event before the answer, and skip a webhook-id that you have.
  const body = Buffer.concat(await request.toArray());
  if (!isGenuine(request.headers, body)) return void (response.statusCode = 400);
  return { took: JSON.parse(body).type };
}

createServer(async (request, response) => {
  const body = await (
    request.url === "/hook" ? hook(request, response) : request.method === "POST" ? purchases(request) : access(request));
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(body ?? {}));
}).listen(Number(PORT), "127.0.0.1");
