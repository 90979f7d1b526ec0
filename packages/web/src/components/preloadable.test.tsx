import { render, screen } from '@testing-library/react';
import { Suspense } from 'react';
import { describe, expect, it } from 'vitest';
import { preloadable } from './preloadable.tsx';

const Greeting = ({ name }: { readonly name: string }) => <p>Hello {name}</p>;

describe('a component created with preloadable() (like React.lazy, with preload)', () => {
  it('is rendered immediately, without the fallback, when it was preloaded', async () => {
    const Preloaded = preloadable(async () => Greeting);
    await Preloaded.preload();
    render(
      <Suspense fallback={<p>loading</p>}>
        <Preloaded name="Ada" />
      </Suspense>,
    );
    expect(screen.queryByText('loading')).toBeNull();
    screen.getByText('Hello Ada');
  });

  it('shows the fallback until its script is loaded when it was not preloaded', async () => {
    const Late = preloadable(async () => Greeting);
    render(
      <Suspense fallback={<p>loading</p>}>
        <Late name="Ada" />
      </Suspense>,
    );
    screen.getByText('loading');
    await screen.findByText('Hello Ada');
  });
});
