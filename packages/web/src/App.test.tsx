import { act, render, screen } from '@testing-library/react';
import { toast } from 'react-toastify';
import { describe, expect, it } from 'vitest';
import { App } from './App.tsx';

describe('the toasts of the app', () => {
  it('are limited to 20 at a time: the newest is on top, and the 21st waits until one closes', async () => {
    render(<App env="test">{null}</App>);
    act(() => {
      for (let number = 1; number <= 21; number += 1) toast.success(`toast ${number}`);
    });
    const toastTexts = (await screen.findAllByRole('alert')).map(({ textContent }) => textContent);
    expect(toastTexts).toHaveLength(20);
    expect(toastTexts.slice(0, 2)).toEqual(['toast 20', 'toast 19']); // toast 21 waits until another one closes
  });
});
