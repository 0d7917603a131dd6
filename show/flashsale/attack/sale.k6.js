// k6 run show/flashsale/attack/sale.k6.js: 64 buyers, five orders each. Open a sale on the page first.
import http from 'k6/http';
import { check } from 'k6';
import { Counter } from 'k6/metrics';

const page = __ENV.SALE || 'http://127.0.0.1:8090';
const sold = new Counter('tickets_sold');
http.setResponseCallback(http.expectedStatuses(201, 409, 429));

export const options = {
  scenarios: { crowd: { executor: 'per-vu-iterations', vus: 64, iterations: 5 } },
  thresholds: { checks: ['rate==1'] },
};

export default function () {
  const answer = http.post(`${page}/sales/1/orders`, JSON.stringify({ quantity: 1 }), {
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${__VU}-${__ITER}-${Date.now()}` },
  });
  check(answer, { 'got it, sold out, or try later': response => [201, 409, 429].includes(response.status) });
  if (answer.status === 201) sold.add(1);
}

export function teardown() {
  const sale = http.get(`${page}/sales/1`, { responseCallback: http.expectedStatuses(200) }).json();
  console.log(`guard ${sale.guard}: stock ${sale.stock}, left ${sale.remaining}`);
}
