// Calls at the same time: Promise.all starts them together, the gate checks them together.

interface Customer {
  id: string;
  name: string;
  mrr: number;
}

const ids = ["C-1001", "C-1003", "C-1006", "C-1009"];
const customers: Customer[] = await Promise.all(ids.map((id) => tools.crm.get_customer({ id })));

return {
  names: customers.map((c) => c.name),
  mrr: customers.reduce((sum, c) => sum + c.mrr, 0),
};
