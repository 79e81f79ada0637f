// A backend for an app: GET /access says what the user may use, POST /purchases hands over what StoreKit signed.
// Put your own login in the place of the header X-User. STOREKEEPER_API, STOREKEEPER_KEY, APP (bundle id) and PORT configure it.
import { createServer } from "node:http";

const { STOREKEEPER_API, STOREKEEPER_KEY, APP, PORT } = process.env;

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

createServer(async (request, response) => {
  const body = await (request.method === "POST" ? purchases(request) : access(request));
  response.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
}).listen(Number(PORT), "127.0.0.1");
