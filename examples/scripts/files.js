// Files: /input is what the user gave and cannot be changed, /workspace is private to the run and
// gone after it, /out is what the run proposes to keep.

const orders = (await fs.readFile("/input/orders.csv", "utf8")).trim().split("\n").slice(1);
const totals = {};
for (const line of orders) {
  const [customer, amount] = line.split(",");
  totals[customer] = (totals[customer] ?? 0) + Number(amount);
}

await fs.writeFile("/workspace/totals.json", JSON.stringify(totals));
await fs.mkdir("/out/reports", { recursive: true });
const report = Object.entries(totals).map(([customer, total]) => `${customer}: ${total}`).join("\n");
await fs.writeFile("/out/reports/totals.txt", report + "\n");

return { customers: Object.keys(totals).length, scratch: await fs.readdir("/workspace") };
