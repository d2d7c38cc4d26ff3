// Checks of JavaScript clients: each is run at once and told as `ok` or `not ok`.
import assert from 'node:assert/strict'

export async function check (title, run) {
  try {
    await run()
    console.log(`ok ${title}`)
  } catch (error) {
    console.log(`not ok ${title}\n${error.stack}\n${JSON.stringify(error.meta?.body ?? null)}`)
  }
}

export const equal = assert.deepEqual
