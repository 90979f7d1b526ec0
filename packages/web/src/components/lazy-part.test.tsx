import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { type ComponentType, useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { lazyPart } from './lazy-part.tsx';

interface GreetingProps {
  readonly name: string;
}
const Greeting = ({ name }: GreetingProps) => <p>Hello {name}</p>;
const Failed = ({ name, onRetry }: GreetingProps & { readonly onRetry: () => void }) => (
  <button type="button" onClick={onRetry}>
    Greet {name} again
  </button>
);

/** Renders a screen with a counter, whose count is not saved, and a part. */
function renderScreen(load: () => Promise<ComponentType<GreetingProps>>) {
  const Part = lazyPart(load, Failed);
  function Screen() {
    const [count, setCount] = useState(0);
    return (
      <>
        <button type="button" onClick={() => setCount(count + 1)}>
          Count {count}
        </button>
        {count > 0 && <Part name="Ada" />}
      </>
    );
  }
  render(<Screen />);
  return userEvent.setup();
}

describe('a component created with lazyPart() (its script is loaded on demand)', () => {
  /** Stubs `fetch`; `isReachable: false` makes every request fail. */
  const stubServer = (server: { isReachable: boolean }) =>
    vi.stubGlobal('fetch', async () => {
      if (!server.isReachable) throw new TypeError('Failed to fetch');
      return new Response(null, { status: 204 });
    });

  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    stubServer({ isReachable: true });
  });

  it('requests its script at the first rendering, and is rendered when the script is loaded', async () => {
    const load = vi.fn<() => Promise<typeof Greeting>>(async () => Greeting);
    const user = renderScreen(load);
    expect(load).not.toHaveBeenCalled();
    await user.click(screen.getByRole('button', { name: 'Count 0' }));
    await screen.findByText('Hello Ada');
  });

  it('is rendered without a request when preload() has loaded its script', async () => {
    const load = vi.fn<() => Promise<typeof Greeting>>(async () => Greeting);
    const Part = lazyPart(load, Failed);
    await Part.preload();
    render(<Part name="Ada" />);
    screen.getByText('Hello Ada');
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('is rendered on a retry after the server did not respond, while the rest of the screen keeps its state', async () => {
    const server = { isReachable: false };
    stubServer(server);
    const load = vi.fn<() => Promise<typeof Greeting>>(async () => Greeting);
    const user = renderScreen(load);
    await user.click(screen.getByRole('button', { name: 'Count 0' }));
    const retryButton = await screen.findByRole('button', { name: 'Greet Ada again' });
    expect(load).not.toHaveBeenCalled(); // a browser would keep the failure of the import
    server.isReachable = true;
    await user.click(retryButton);
    await screen.findByText('Hello Ada');
    screen.getByRole('button', { name: 'Count 1' });
  });

  it('imports its script again on each retry after the import has failed', async () => {
    const load = vi
      .fn<() => Promise<typeof Greeting>>()
      .mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'))
      .mockRejectedValueOnce(new TypeError('Failed to fetch dynamically imported module'))
      .mockResolvedValue(Greeting);
    const user = renderScreen(load);
    await user.click(screen.getByRole('button', { name: 'Count 0' }));
    await user.click(await screen.findByRole('button', { name: 'Greet Ada again' }));
    await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(2));
    await user.click(await screen.findByRole('button', { name: 'Greet Ada again' }));
    await screen.findByText('Hello Ada');
  });

  it('is rendered on a retry after an earlier rendering has thrown an error', async () => {
    let isBroken = true;
    const Fragile = ({ name }: GreetingProps) => {
      if (isBroken) throw new Error('cannot be rendered');
      return <p>Hello {name}</p>;
    };
    const user = renderScreen(async () => Fragile);
    await user.click(screen.getByRole('button', { name: 'Count 0' }));
    const retryButton = await screen.findByRole('button', { name: 'Greet Ada again' });
    isBroken = false;
    await user.click(retryButton);
    await screen.findByText('Hello Ada');
  });
});
