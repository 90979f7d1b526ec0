import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useState } from 'react';
import { expect, it } from 'vitest';
import { SidebarSection } from './SidebarSection.tsx';

function OpenSection() {
  const [isOpen, setOpen] = useState(true);
  return (
    <SidebarSection id="selected-image" title="Selected Image" isOpen={isOpen} onToggle={setOpen}>
      <p>name</p>
    </SidebarSection>
  );
}

it('SidebarSection hides its content when its open heading is clicked, and shows it when the heading is clicked again', async () => {
  render(<OpenSection />);
  const heading = screen.getByRole('button', { name: 'Selected Image', expanded: true });
  await userEvent.click(heading);
  expect(screen.queryByText('name')).toBeNull();
  await userEvent.click(screen.getByRole('button', { name: 'Selected Image', expanded: false }));
  screen.getByText('name');
});
